// Measures the throughput of the server from an agent to its readers, and the cost of readers, sessions and its start.
// Run it with `node bench/server.mjs [--quick]`. The candidates take turns, so that load on the machine affects all of them.
import { mkdir } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { openSqliteStore } from "../dist/index.js";
import { say, startModelServer } from "../dist/testing/index.js";
import { burst } from "./server/burst.mjs";
import { deliver } from "./server/deliver.mjs";
import { environmentFor } from "./server/model.mjs";
import { asAgent, OWN_AGENT, startBare, startRookery, WATCHED } from "./server/servers.mjs";
import { within } from "./server/program.mjs";
import { opened, write } from "./store/events.mjs";
import { median, printAlone } from "./table.mjs";

const [KB, MB] = [1024, 1024 * 1024];
const MANY = 32;

export async function run({ quick = false } = {}) {
  return [
    ...(await delivering({ total: quick ? 20_000 : 50_000, rounds: quick ? 2 : 5 })),
    ...(await besideAStalledOne({ total: quick ? 20_000 : 100_000, rounds: quick ? 2 : 9 })),
    ...(await comingBack({ total: quick ? 100_000 : 1_000_000, times: quick ? 20 : 100 })),
    ...(await idle({ count: quick ? 100 : 1_000 })),
    ...(await starting({ rounds: quick ? 3 : 11 })),
  ];
}

async function delivering({ total, rounds }) {
  return withAgent(total, async (agent, ours) =>
    within(
      (folder) => startBare({ folder, agent }),
      async (bare) => {
        const rows = [];
        for (const readers of [1, MANY]) {
          const [floor, found] = await inTurns(rounds, [bare, ours], (server) => deliver(server, agent, { readers }));
          rows.push(
            { name: `floor: a pipe to ${to(readers)}, no log`, value: rateOf(floor), unit: "texts/s" },
            {
              name: `agent to log to ${to(readers)}`,
              value: rateOf(found),
              unit: "texts/s",
              ratio: rateOf(found) / rateOf(floor),
            },
            { name: `lost or out of order on the way to ${to(readers)}`, ...none(found) },
          );
        }
        return rows;
      },
    ),
  );
}

/** Texts per second, for one reader or for all readers together. */
export function rateOf(found) {
  return median(found.map(({ all }) => all));
}

export function to(readers) {
  return readers === 1 ? "1 reader" : `${readers} readers in total`;
}

export function none(found) {
  const value = Math.max(...found.map(({ lost }) => lost)) * 100;
  return { value, unit: "%", target: "none", ok: value === 0 && found.every(({ disordered }) => disordered === 0) };
}

async function besideAStalledOne({ total, rounds }) {
  const readers = 4;
  return withAgent(total, async (agent, ours) => {
    const after = () => ours.memory();
    const [alone, beside] = await inTurns(rounds, [0, 1], (stalled) =>
      deliver(ours, agent, { readers, stalled, after }),
    );
    const slower = (1 - rateOf(beside) / rateOf(alone)) * 100;
    const held = (found) => median(found.map((one) => one.held)) / MB;
    return [
      { name: `${readers} readers lose of their rate to a stalled one`, ...atMost(slower, 5, "%") },
      { name: "what a stalled reader has the server hold", ...atMost(held(beside) - held(alone), 10, "MB") },
    ];
  });
}

async function comingBack({ total, times }) {
  const sessionId = "ses_bench";
  const start = async (folder) => {
    const home = join(folder, ".rookery");
    await mkdir(home);
    const store = await openSqliteStore({ path: join(home, "rookery.db") });
    await store.append(opened(sessionId));
    await write(store, { sessionId, count: total, batch: 1_000, inFlight: 4 });
    await store[Symbol.asyncDispose]();
    return startRookery({ folder, toml: "" });
  };
  return within(start, async ({ base, headers }) => {
    const took = [];
    for (let time = 0; time < times; time += 1) {
      const from = Math.floor(Math.random() * total); // at least one event always follows
      took.push(
        await untilFirstEvent(`${base}/v1/sessions/${sessionId}/events`, { ...headers, "last-event-id": from }),
      );
    }
    const where = `anywhere in ${total.toLocaleString("en")} events`;
    return [
      { name: `Last-Event-ID ${where}: first event, p50`, value: median(took), unit: "ms" },
      { name: `the slowest of ${times}`, ...atMost(Math.max(...took), 30, "ms") },
    ];
  });
}

function untilFirstEvent(url, headers) {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const after = Number(headers["last-event-id"]);
    const request = get(url, { headers: { ...headers, accept: "text/event-stream" }, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
        const id = /^id: (\d+)$/m.exec(text)?.[1];
        if (id === undefined) return;
        const took = performance.now() - from;
        request.destroy();
        if (Number(id) === after + 1) resolve(took);
        else reject(new Error(`expected an event after ${after}, got ${id}`));
      });
    });
    request.on("error", reject);
  });
}

/** Each session has run one turn and is idle. */
async function idle({ count }) {
  const warm = 50;
  const model = await startModelServer(() => say("hi"), { maxRequests: count + warm });
  const extra = environmentFor(model);
  try {
    return await within(
      (folder) => startRookery({ folder, toml: OWN_AGENT, extra, node: WATCHED }),
      async (server) => {
        await turns(server, warm);
        const before = await server.memory();
        await turns(server, count);
        const after = await server.memory();
        const each = (key) => (after[key] - before[key]) / count / KB;
        return [
          { name: `an idle session of ${count.toLocaleString("en")}`, ...atMost(each("held"), 20, "KB") },
          { name: "its share of resident memory", value: each("rss"), unit: "KB" },
        ];
      },
    );
  } finally {
    await model.close();
  }
}

async function turns(server, count) {
  for (let index = 0; index < count; index += 1) {
    const { id, prompt } = await server.openSession();
    await prompt();
    while ((await server.get(`sessions/${id}`)).status !== "idle");
  }
}

async function starting({ rounds }) {
  const took = [];
  await within(
    async (folder) => {
      for (let round = 0; round <= rounds; round += 1) {
        const server = await startRookery({ folder, toml: "" });
        took.push(server.firstAnswerMs);
        await server[Symbol.asyncDispose]();
      }
    },
    async () => undefined,
  );
  const [first, ...later] = took;
  return [
    { name: "from the start of the server to its first answer", ...atMost(median(later), 500, "ms") },
    { name: "the first time on a machine", value: first, unit: "ms" },
  ];
}

/** Starts a Rookery server with a bursting agent, and warms it up with one burst. */
async function withAgent(total, work) {
  let agent;
  const start = (folder) => {
    agent = burst(folder, total);
    return startRookery({ folder, toml: asAgent(agent), node: WATCHED });
  };
  return within(start, async (ours) => {
    await deliver(ours, agent, { readers: 1 });
    return work(agent, ours);
  });
}

/** Measures the subjects alternately, `rounds` times. Returns the results of each subject. */
export async function inTurns(rounds, subjects, measure) {
  const found = subjects.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) found[index].push(await measure(subject));
  }
  return found;
}

function atMost(value, most, unit) {
  return { value, unit, target: `≤ ${most} ${unit}`, ok: value <= most };
}

await printAlone(import.meta.url, "Server", run);
