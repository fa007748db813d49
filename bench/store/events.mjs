// The events of the benchmarks: 200 bytes of stored JSON each.
const BYTES = 200;
const AT = "2026-01-01T00:00:00.000Z";

export function opened(sessionId) {
  const event = { type: "session.opened", at: AT, agent: "bench", cwd: "/", backend: "api", permissions: "ask" };
  return { sessionId, id: "opened", expectedHead: 0, events: [event] };
}

const EMPTY = { type: "message.delta", at: AT, turnId: "trn_bench", agent: "bench", messageId: "msg_bench", text: "" };
const ROOM = BYTES - JSON.stringify({ ...EMPTY, seq: 0 }).length + 1;
const TEXTS = Array.from({ length: 8 }, (_, digits) => "x".repeat(ROOM - digits));

export function event(seq) {
  return { ...EMPTY, text: TEXTS[String(seq).length] };
}

export const events = (count, after) => Array.from({ length: count }, (_, index) => event(after + index + 1));

/** Appends `count` events in batches of `batch`, with `inFlight` concurrent appends. Resolves when all are durable. */
export async function write(store, { sessionId, count, batch, inFlight, after = 1, stamp = "w" }) {
  const waiting = new Set();
  for (let head = after; head < after + count; head += batch) {
    const append = { sessionId, id: `${stamp}${head}`, expectedHead: head, events: events(batch, head) };
    const done = store.append(append).then(() => waiting.delete(done));
    waiting.add(done);
    if (waiting.size >= inFlight) await Promise.race(waiting);
  }
  await Promise.all(waiting);
}
