// Measures how long the work of one session blocks the server for others: the slowest response to GET /v1/health, which
// another process requests every 5 ms, and the longest event loop delay. Run it with `node bench/blocking.mjs [--quick]
// [log] [turns] [million] [sessions] [tasks]`. Both are also measured in CPU time of the server's main thread, which does
// not depend on the load of the machine. An empty session, the control, shows the cost of first use.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "../dist/index.js";
import { temporaryRepository } from "../dist/testing/index.js";
import { startModel } from "./agent/model.mjs";
import { startKnocking } from "./blocking/knock.mjs";
import { writeTurns } from "./blocking/long-log.mjs";
import { environmentFor } from "./server/model.mjs";
import { within } from "./server/program.mjs";
import { LOOP_WATCHED, OWN_AGENT, startRookery } from "./server/servers.mjs";
import { printAlone } from "./table.mjs";

const MOST_MS = 50;
const IDLE_MS = 3_000;
const PAGE = 10_000;
const AT_ONCE = 8;

export async function run({ quick = false } = {}) {
  const parts = {
    log: () => longLog({ events: quick ? 30_000 : 300_000 }),
    turns: () => shortTurns({ events: quick ? 30_000 : 300_000 }),
    million: () => longDeletion({ events: quick ? 100_000 : 1_000_000 }),
    sessions: () => manySessions({ count: quick ? 500 : 10_000 }),
    tasks: () => manyTasks({ count: quick ? 200 : 2_000 }),
  };
  const named = Object.keys(parts).filter((name) => process.argv.includes(name));
  const rows = [];
  for (const name of named.length > 0 ? named : Object.keys(parts)) rows.push(...(await parts[name]()));
  return rows;
}

const LONG = "ses_long";

/** Writes the log of a session before the server starts, in turns of about 200 events or of four. */
function prepared(events, deltas) {
  return async (folder) => {
    const home = join(folder, ".rookery");
    await mkdir(home);
    const store = await openSqliteStore({ path: join(home, "rookery.db") });
    await writeTurns(store, { sessionId: LONG, cwd: folder, events, deltas });
    await store[Symbol.asyncDispose]();
  };
}

function longDeletion({ events }) {
  return measured({ prepare: prepared(events) }, (server, look) =>
    look(`with ${events.toLocaleString("en")} events in one session: delete it`, () =>
      server.remove(`sessions/${LONG}`),
    ),
  );
}

function longLog({ events }) {
  return measured({ prepare: prepared(events) }, async (server, look) => {
    const path = `sessions/${LONG}`;
    await lookAtControl(server, look);
    const readAll = async () => {
      for (let [after, last] = [0, Infinity]; after < last;) {
        const { events, head } = await server.get(`${path}/events?after=${after}&limit=${PAGE}`);
        [after, last] = [events.at(-1).seq, head];
      }
    };
    await look(`with ${events.toLocaleString("en")} events in one session: list and show it`, async () => {
      for (let time = 0; time < 10; time += 1) await Promise.all([server.get("sessions"), server.get(path)]);
    });
    await look("open and prompt it", () => prompt(server, LONG));
    await look("prompt it again", () => prompt(server, LONG));
    await look("read it in pages", readAll);
    await look("stream it", () => streamed(server, path, events));
    let fork;
    await look("fork it", async () => ({ id: fork } = await server.post(`${path}/fork`, {})));
    await look("delete it and its fork", () => Promise.all([path, `sessions/${fork}`].map(server.remove)));
  });
}

/** Each turn adds two messages to the conversation, which every model request contains. */
function shortTurns({ events }) {
  return measured({ prepare: prepared(events, 1) }, async (server, look) => {
    await lookAtControl(server, look);
    const n = events.toLocaleString("en");
    await look(`with ${n} events in turns of four: open and prompt the session`, () => prompt(server, LONG));
    await look("prompt it again", () => prompt(server, LONG));
  });
}

/** A session with an empty log: the cost of the first prompt and of later ones. */
async function lookAtControl(server, look) {
  const { id } = await server.openSession();
  await look("control: prompt an empty session", () => prompt(server, id));
  await look("control: prompt it again", () => prompt(server, id));
}

async function prompt(server, id) {
  await server.post(`sessions/${id}/turns`, { input: "go on" });
  while ((await server.get(`sessions/${id}`)).status !== "idle") await sleep(20);
}

async function streamed(server, path, events) {
  const url = `${server.base}/v1/${path}/events`;
  const gone = new AbortController();
  const headers = { ...server.headers, accept: "text/event-stream" };
  const { body } = await fetch(url, { headers, signal: gone.signal });
  let seen = 0;
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    seen += text.split("\nid: ").length - 1;
    if (seen >= events * 0.99) break; // an event may arrive in two chunks
  }
  gone.abort();
}

function manySessions({ count }) {
  return measured({}, async (server, look) => {
    const n = count.toLocaleString("en");
    const ids = [];
    await look(`open ${n} sessions`, () => together(count, async () => void ids.push((await server.openSession()).id)));
    await look(`with ${n} sessions: list them`, () => together(16, () => server.get("sessions?limit=1000")));
    await look("show 100 of them", () => together(100, (index) => server.get(`sessions/${ids[index * 5]}`)));
    await look("prompt one of them", () => server.post(`sessions/${ids[0]}/turns`, { input: "go" }));
    await look("delete 100 of them", () => together(100, () => server.remove(`sessions/${ids.pop()}`)));
  });
}

async function manyTasks({ count }) {
  const repository = await temporaryRepository();
  const toml = `[defaults]\nagent = "it"\nmax_running = 1`;
  const measuring = measured({ toml }, async (server, look) => {
    const n = count.toLocaleString("en");
    const give = (index) => ({ id: `task-${index}`, prompt: "hold", cwd: repository.path, permissions: "all" });
    await look(`create ${n} tasks`, () => together(count, (index) => server.post("tasks", give(index))));
    await look(`with ${n} queued tasks: list them`, () => together(16, () => server.get("tasks?limit=1000")));
    await look("let them wait", () => sleep(IDLE_MS));
    await look("stop 100 of them", () =>
      together(100, (index) => server.post(`tasks/task-${count - 1 - index}/stop`, {})),
    );
  });
  return measuring.finally(() => repository[Symbol.asyncDispose]());
}

/** Calls `work` with the server and `look(name, work)`, which measures. */
async function measured({ prepare = async () => undefined, toml = "" }, work) {
  const model = await startModel();
  const start = async (folder) => {
    await prepare(folder);
    const extra = environmentFor(model);
    return startRookery({ folder, toml: `${toml}\n${OWN_AGENT}`, extra, node: LOOP_WATCHED });
  };
  try {
    return await within(start, async (server) => {
      const knocking = await startKnocking(server);
      const rows = [];
      const look = async (name, doing, judged = true) => {
        await Promise.all([knocking.longest(), server.loop()]);
        const from = performance.now();
        await doing();
        const took = performance.now() - from;
        const [wait, { longest, worked, waited }] = [await knocking.longest(), await server.loop()];
        const target = (value) => (judged ? { target: `≤ ${MOST_MS} ms`, ok: value <= MOST_MS } : {});
        rows.push({
          name: `${name} (${(took / 1000).toFixed(1)} s): slowest health check`,
          value: wait,
          unit: "ms",
          ...target(wait),
        });
        rows.push({ name: "    in CPU time", value: waited, unit: "ms", ...target(waited) });
        rows.push({ name: "  longest event loop delay", value: longest, unit: "ms" });
        rows.push({ name: "    in CPU time", value: worked, unit: "ms", ...target(worked) });
      };
      await look("baseline: idle server", () => sleep(IDLE_MS), false);
      try {
        await work(server, look);
      } finally {
        await knocking.end();
      }
      return rows;
    });
  } finally {
    await model.close();
  }
}

/** Runs `work` `count` times with limited concurrency. */
async function together(count, work) {
  let next = 0;
  const one = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

await printAlone(import.meta.url, "Waiting for another session", run);
