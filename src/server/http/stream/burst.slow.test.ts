import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { newId } from "../../../domain/index.ts";
import { openSqliteStore } from "../../../store/index.ts";
import { temporaryFolder, type TemporaryFolder } from "../../../testing/index.ts";
import { appendNotices, openHttp, type HttpScene } from "../test-scene.ts";

const SECONDS = 1_000;
const EVENTS = process.env["ROOKERY_SLOW"] === "1" ? 200_000 : 40_000;
const MB = 1024 * 1024;

let folder: TemporaryFolder;
let scene: HttpScene;
beforeEach(async () => {
  folder = await temporaryFolder();
  scene = await openHttp([], { store: await openSqliteStore({ path: join(folder.path, "log.db") }) });
});
afterEach(async () => {
  await scene[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Reader {
  readonly response: IncomingMessage;
  /** The last id. `wrong` describes the first id that did not follow its predecessor. */
  last: number;
  wrong: string | undefined;
  bytes: number;
}

/** Only counts ids, which is cheap enough for 32 readers in one process. */
async function reader(path: string, { slow = false } = {}): Promise<Reader> {
  const headers = { authorization: `Bearer ${scene.server.token}`, accept: "text/event-stream" };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${scene.server.url}${path}`, { headers, agent: false }, resolve).on("error", reject).end();
  });
  const reading: Reader = { response, last: 0, wrong: undefined, bytes: 0 };
  let rest = "";
  response.on("data", (chunk: Buffer) => {
    reading.bytes += chunk.length;
    const text = rest + chunk.toString("latin1");
    let from = 0;
    for (;;) {
      const at = text.indexOf("id: ", from);
      const end = at < 0 ? -1 : text.indexOf("\n\n", at);
      if (end < 0) break;
      const id = parseInt(text.slice(at + 4, at + 16), 10);
      if (id !== reading.last + 1) reading.wrong ??= `${id} after ${reading.last}`;
      reading.last = id;
      from = end + 2;
    }
    rest = text.slice(from);
    if (!slow) return;
    response.pause();
    setTimeout(() => response.resume(), 5);
  });
  return reading;
}

it(
  "delivers a burst in order to 32 readers, of which four are slow and one stalls",
  { timeout: 60 * SECONDS },
  async () => {
    const sessionId = await scene.written(0);
    const path = `/v1/sessions/${sessionId}/events`;
    const quick = await Promise.all(Array.from({ length: 27 }, () => reader(path)));
    const slow = await Promise.all(Array.from({ length: 4 }, () => reader(path, { slow: true })));
    const stalled = await reader(path);
    stalled.response.pause();
    const begun = performance.now();
    await appendNotices(scene.store, sessionId, 1, EVENTS);
    await vi.waitFor(() => expect(quick.every(({ last }) => last === EVENTS + 1)).toBe(true), 40 * SECONDS);
    const took = performance.now() - begun;
    expect(stalled.last).toBeLessThan(EVENTS / 2);
    stalled.response.resume();
    const all = [...quick, ...slow, stalled];
    await vi.waitFor(() => expect(all.map(({ last }) => last)).toEqual(all.map(() => EVENTS + 1)), 40 * SECONDS);
    expect(all.map(({ wrong }) => wrong)).toEqual(all.map(() => undefined));
    if (process.env["ROOKERY_MEASURE"] === "1") {
      console.log(`${Math.round((EVENTS * 27) / took)}k events/s in all, ${(EVENTS / took).toFixed(1)}k to each`);
    }
    for (const { response } of all) response.destroy();
    await vi.waitFor(async () => expect((await scene.get("/v1/health")).json).toMatchObject({ streams: 0 }));
  },
);

it("stops reading the log for a stalled reader when its connection is full", { timeout: 60 * SECONDS }, async () => {
  const sessionId = await scene.written(0);
  const path = `/v1/sessions/${sessionId}/events`;
  const quick = await reader(path);
  const stalled = await reader(path);
  stalled.response.pause();
  const at = new Date().toISOString();
  const text = "x".repeat(MB);
  for (let head = 1; head <= 40; head += 1) {
    const events = [{ type: "message.delta" as const, at, agent: "a", messageId: "m", text }];
    await scene.store.append({ sessionId, id: newId("app"), expectedHead: head, events });
  }
  await vi.waitFor(() => expect(quick.last).toBe(41), 20 * SECONDS);
  const { text: metrics } = await scene.get("/metrics");
  const sent = Number(/^rookery_stream_bytes_total (\d+)$/m.exec(metrics)?.[1]);
  expect(sent).toBeGreaterThan(40 * MB);
  expect(sent).toBeLessThan(50 * MB);
  stalled.response.resume();
  await vi.waitFor(() => expect(stalled.last).toBe(41), 20 * SECONDS);
  for (const { response } of [quick, stalled]) response.destroy();
});
