// Holds, watches and renews sessions as a worker does, and streams events into some of them when it gets a line.
// Started by ../cluster.mjs.
import { once, setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { event, opened } from "../store/events.mjs";
import { openBenchStore } from "../store/open.mjs";

const [, place, argument] = process.argv.slice(2);
const { name, held, streaming, perSecond, seconds } = JSON.parse(argument);
const TTL_MS = 30_000;
const RENEW_MS = 10_000;
const SETUPS_IN_FLIGHT = 50;

const store = await openBenchStore(place);
const leases = await holdSessions();
const renewal = setInterval(() => void store.renewLeases(leases, Date.now() + TTL_MS), RENEW_MS);
const stop = new AbortController();
setMaxListeners(0, stop.signal);
for (const { sessionId } of leases) void watch(sessionId);
say("ready");
await once(process.stdin, "data");
const delays = (await Promise.all(leases.slice(0, streaming).map(stream))).flat();
say({ delays });
clearInterval(renewal);
stop.abort();
await store[Symbol.asyncDispose]();
process.stdin.destroy();

async function holdSessions() {
  const ids = Array.from({ length: held }, (_, index) => `ses_bench_${name}_${index}`);
  const owner = `bench-${name}`;
  const all = [];
  const setUp = async () => {
    for (let sessionId = ids.pop(); sessionId !== undefined; sessionId = ids.pop()) {
      await store.append(opened(sessionId));
      const now = Date.now();
      all.push(await store.acquireLease({ sessionId, owner, now, until: now + TTL_MS }));
    }
  };
  await Promise.all(Array.from({ length: SETUPS_IN_FLIGHT }, setUp));
  return all;
}

async function watch(sessionId) {
  for await (const _head of store.watchHead({ sessionId, after: 1, signal: stop.signal }));
}

/** Appends single events at a steady rate. A late append does not delay the next one. */
async function stream({ sessionId, generation }) {
  const times = [];
  const begin = performance.now() + (Math.random() * 1_000) / perSecond;
  for (let count = 0; count < perSecond * seconds; count += 1) {
    await sleep(Math.max(0, begin + (count * 1_000) / perSecond - performance.now()));
    const head = count + 1;
    const started = performance.now();
    await store.append({
      sessionId,
      id: `s${head}`,
      expectedHead: head,
      fence: generation,
      events: [event(head + 1)],
    });
    times.push(performance.now() - started);
  }
  return times;
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
