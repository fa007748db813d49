// A cluster on one machine: PostgreSQL with a synchronous standby, three hosts with a worker each, and two servers behind
// a load balancer. Plays the story of examples/fleet and meanwhile kills a worker, the primary and a server.
// node examples/cluster/run.mjs [FOLDER]
import { mkdtempSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgresPair } from "../../scripts/postgres-cluster.mjs";
import { playStory } from "../fleet/story.mjs";
import { startBalancer } from "./balancer.mjs";
import { end, makeHost, makeSharedRepository } from "./hosts.mjs";

const [, , kept] = process.argv;
const folder = kept === undefined ? mkdtempSync(join(tmpdir(), "rookery-cluster-")) : resolve(kept);
const startedAt = performance.now();
const tell = (line) => console.log(`${seconds()}  ${line}`);
const cleanUps = [];
/** The host that works on a task, by the id of the task. */
const hostOf = new Map();

try {
  const { primary, standby } = await startPostgresPair();
  cleanUps.push(
    () => standby.stop(),
    () => primary.stop(),
  );
  const servers = [primary, standby].map((database) => database.folder);
  const storeUrl = `postgres://postgres@localhost/postgres?host=${servers.join(",")}&target_session_attrs=read-write`;
  tell("PostgreSQL runs, with a synchronous standby.");

  const { repository, remote } = makeSharedRepository(folder);
  const token = randomBytes(16).toString("hex");
  const [a, b, c] = ["a", "b", "c"].map((name) => makeHost(folder, name, { storeUrl, token }));
  const hosts = { a, b, c };
  const workers = {};
  for (const host of [a, b, c]) {
    workers[host.name] = await host.startWorker();
    cleanUps.push(() => end(workers[host.name]));
  }
  const ports = [await freePort(), await freePort()];
  const [first, second] = [await a.startServer(ports[0]), await b.startServer(ports[1])];
  cleanUps.push(
    () => end(first),
    () => end(second),
  );
  const balancer = await startBalancer(ports);
  cleanUps.push(() => balancer.close());
  tell(`Three workers and two servers run; ${balancer.url} is in front of the servers.`);

  const accidents = planAccidents([
    {
      when: ({ type, taskId }) => type === "stage.started" && taskId === "licence",
      async happen() {
        const name = hostOf.get("licence");
        tell(`ACCIDENT: the worker of host ${name}, which works on licence, is killed.`);
        await end(workers[name], "SIGKILL");
        await sleep(2_000);
        workers[name] = await hosts[name].startWorker();
        tell(`Host ${name} has a worker again; it ended what the killed one left.`);
      },
    },
    {
      when: ({ type, taskId }) => type === "task.started" && taskId === "release",
      async happen() {
        tell("ACCIDENT: the primary of the database dies.");
        await primary.crash();
        await promote(standby);
        tell("The standby is the primary now.");
      },
    },
    {
      when: ({ type, taskId }) => type === "stage.ended" && taskId === "release",
      async happen() {
        tell("ACCIDENT: a server is killed; its readers continue on the other one.");
        await end(first, "SIGKILL");
      },
    },
  ]);
  const story = { url: balancer.url, token, repository, tell, onEvent: (event) => accidents.see(show(event)) };
  const { views } = await playStory(story);
  await accidents.finished();

  console.log(`\n${b.run("workers")}`);
  for (const { id, status, worktree } of views)
    console.log(`${id.padEnd(12)}${status.padEnd(9)}${worktree?.host ?? ""}`);
  console.log(`\n${remote("log", "--graph", "--format=%s", "main")}`);
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}

/** Each accident happens once, one after another. */
function planAccidents(accidents) {
  const left = [...accidents];
  let happening = Promise.resolve();
  return {
    see(event) {
      const index = left.findIndex(({ when }) => when(event));
      if (index === -1) return;
      const [{ happen }] = left.splice(index, 1);
      happening = happening.then(happen);
      happening.catch(() => {}); // reported by `finished`
    },
    async finished() {
      await happening;
      if (left.length > 0) throw new Error(`${left.length} accidents did not happen`);
    },
  };
}

async function promote({ url }) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("alter system set synchronous_standby_names = ''"); // it has no standby of its own
    await client.query("select pg_promote(true)");
    await client.query("select pg_reload_conf()");
  } finally {
    await client.end();
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Prints an event as one line if people need it. Returns the event. */
function show(event) {
  const line = (words) => console.log(`${seconds()}    ${event.taskId.padEnd(12)}${words}`);
  if (event.type === "worktree.made") {
    hostOf.set(event.taskId, event.host);
    line(`works on host ${event.host}`);
  }
  if (event.type === "task.queued") line(`waits again: ${event.message ?? event.why}`);
  if (event.type === "task.ended") line(event.outcome);
  if (event.type === "merge.ended") line(event.outcome);
  return event;
}

function seconds() {
  return `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
}
