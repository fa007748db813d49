// Measures whether the memory of a busy server grows: runs a few prompts, streams, answers, forks and deletions per second
// and samples the memory every 20 s. Run it with `node bench/growth.mjs [--quick] [--minutes=20]`. Default: 5 minutes, so
// `run.mjs` skips it. With BENCH_SNAPSHOTS=<folder>, the server writes a heap snapshot after each third of the time.
import { setTimeout as sleep } from "node:timers/promises";
import { call, say, startModelServer } from "../dist/testing/index.js";
import { environmentFor } from "./server/model.mjs";
import { asked, within } from "./server/program.mjs";
import { OWN_AGENT, startRookery, WATCHED } from "./server/servers.mjs";
import { printAlone } from "./table.mjs";

const MB = 1024 * 1024;
const EVERY_MS = 20_000;
const PAUSE_MS = 250;

export async function run({ quick = false } = {}) {
  const minutes = Number(process.argv.find((argument) => argument.startsWith("--minutes="))?.split("=")[1] ?? 5);
  const looks = quick ? 3 : Math.max(3, Math.round((minutes * 60_000) / EVERY_MS));
  const model = await startModelServer(script, { maxRequests: 1_000_000 });
  const snapshots = process.env.BENCH_SNAPSHOTS;
  const extra = {
    ...environmentFor(model),
    ...(snapshots && { BENCH_SNAPSHOTS: snapshots, BENCH_SNAPSHOT_EVERY: String(Math.floor(looks / 3)) }),
  };
  const start = (folder) => startRookery({ folder, toml: OWN_AGENT, extra, node: WATCHED });
  try {
    return await within(start, async (server, folder) => {
      const [rows, held] = [[], []];
      const load = loaded(server, folder);
      for (let look = 1; look <= looks; look += 1) {
        await Promise.race([sleep(EVERY_MS), load.failed]);
        const found = await server.memory();
        held.push(found.heap / MB);
        const name = `after ${(look * EVERY_MS) / 1_000} s and ${load.rounds()} rounds: the heap`;
        console.log(`${name} ${held.at(-1).toFixed(2)} MB, resident ${(found.rss / MB).toFixed(0)} MB`);
        rows.push({ name, value: held.at(-1), unit: "MB" });
      }
      await load.end();
      const perMinute = slope(held.slice(Math.floor(looks / 2))) * (60_000 / EVERY_MS);
      return [
        ...rows,
        {
          name: "growth per minute, in the second half",
          value: perMinute,
          unit: "MB",
          target: "≤ 0.2 MB",
          ok: perMinute <= 0.2,
        },
      ];
    });
  } finally {
    await model.close();
  }
}

/** The model requests one file write and then answers. */
function script({ toolNames, messages }) {
  const last = messages.at(-1);
  const wants = toolNames.includes("write") && JSON.stringify(last ?? "").includes("please write");
  return wants ? call("write", { path: "file", content: "text" }) : say(["an ", "answer"]);
}

function loaded(server, folder) {
  let [rounds, isOver] = [0, false];
  const working = (async () => {
    while (!isOver) {
      await round(server, folder);
      rounds += 1;
      await sleep(PAUSE_MS);
    }
  })();
  const failed = new Promise((_, reject) => working.catch(reject));
  failed.catch(() => undefined);
  return {
    failed,
    rounds: () => rounds,
    end() {
      isOver = true;
      return working;
    },
  };
}

/** Opens a session, prompts, follows and answers it, forks it, and deletes both. */
async function round(server, folder) {
  const { id } = await server.post("sessions", { agent: "it", cwd: folder, permissions: "ask" });
  const gone = new AbortController();
  const headers = { ...server.headers, accept: "text/event-stream" };
  const stream = await fetch(`${server.base}/v1/sessions/${id}/events`, { headers, signal: gone.signal });
  const reading = stream.text().catch(() => undefined);
  await server.post(`sessions/${id}/turns`, { input: "please write" });
  const { waitingFor } = await until(server, id, "waiting");
  await server.post(`sessions/${id}/requests/${waitingFor[0]}`, { decision: "allow", scope: "once" });
  await until(server, id, "idle");
  const fork = await server.post(`sessions/${id}/fork`, {});
  await server.post(`sessions/${fork.id}/turns`, { input: "go on" });
  await until(server, fork.id, "idle");
  await asked(`${server.base}/metrics`, { headers: server.headers }).catch(() => undefined);
  await server.get("sessions?limit=100");
  gone.abort();
  await reading;
  await server.remove(`sessions/${fork.id}`);
  await server.remove(`sessions/${id}`);
}

async function until(server, id, status) {
  for (let look = 0; look < 2_000; look += 1) {
    const found = await server.get(`sessions/${id}`);
    if (found.status === status) return found;
    await sleep(10);
  }
  throw new Error(`session ${id} did not become ${status}`);
}

/** The slope of the least-squares line, per sample. */
function slope(values) {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [above, below] = [0, 0];
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return above / below;
}

await printAlone(import.meta.url, "Growth", run);
