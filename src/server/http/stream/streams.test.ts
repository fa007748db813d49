import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../../../domain/index.ts";
import { appendNotices, openHttp, type HttpScene } from "../test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp([], { times: { heartbeat: 30, grace: 2_000 } });
});
afterEach(() => scene[Symbol.asyncDispose]());

const ids = (stream: { readonly events: readonly { readonly id: string | undefined }[] }) =>
  stream.events.map(({ id }) => Number(id));
const streams = async () => (await scene.get("/metrics")).text.match(/^rookery_(?:streams|stream_logs) \d+$/gm);

describe("the start of a stream", () => {
  it.each([
    ["0 by default", "", undefined, 1],
    ["?after=", "?after=7", undefined, 8],
    ["Last-Event-ID", "", "4", 5],
    ["Last-Event-ID rather than ?after=", "?after=2", "9", 10],
  ])("is %s", async (_, query, last, first) => {
    const sessionId = await scene.written(11);
    const stream = await scene.stream(`/v1/sessions/${sessionId}/events${query}`, last === undefined ? {} : { last });
    expect(stream.response.headers.get("content-type")).toContain("text/event-stream");
    await vi.waitFor(() => expect(ids(stream)).toEqual(Array.from({ length: 13 - first }, (__, at) => first + at)));
    await appendNotices(scene.store, sessionId, 12, 1);
    await vi.waitFor(() => expect(ids(stream).at(-1)).toBe(13));
    await stream.cancel();
  });

  it("rejects a cursor beyond the end with the head, for streams and pages", async () => {
    const sessionId = await scene.written(3);
    const { head } = (await scene.get("/v1/events?limit=0")).json;
    for (const accept of ["text/event-stream", "application/json"]) {
      for (const [path, end] of [
        [`/v1/sessions/${sessionId}/events`, 4],
        ["/v1/events", head],
      ] as const) {
        const { status, json } = await scene.get(`${path}?after=${end + 1}`, { headers: { accept } });
        expect({ status, code: json.code, head: json.head }).toEqual({ status: 416, code: "input_invalid", head: end });
      }
    }
    expect((await scene.get(`/v1/sessions/${sessionId}/events?after=4`)).json).toEqual({ events: [], head: 4 });
    const headers = { "last-event-id": "x", accept: "text/event-stream" };
    expect((await scene.get("/v1/events", { headers })).status).toBe(400);
  });

  it("uses the same cursor for pages, which have no gaps", async () => {
    const sessionId = await scene.written(24);
    const seen: number[] = [];
    for (let after = 0; ;) {
      const { events, head } = (await scene.get(`/v1/sessions/${sessionId}/events?after=${after}&limit=7`)).json;
      seen.push(...events.map(({ seq }) => seq));
      after = seen.at(-1) ?? 0;
      if (after === head) break;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => at + 1));
    const feed = (await scene.get("/v1/events?limit=10000")).json;
    expect(feed.events).toHaveLength(25);
    expect(feed.head).toBe(feed.events.at(-1)?.position);
  });
});

it("delivers the events of all sessions in commit order with one cursor", async () => {
  const all = await scene.stream("/v1/events");
  const one = await scene.written(2);
  const other = await scene.written(2);
  await vi.waitFor(() => expect(all.events).toHaveLength(6));
  const whose = all.events.map(({ data }) => (JSON.parse(data) as { sessionId: string }).sessionId);
  expect(whose).toEqual([one, one, one, other, other, other]);
  const middle = await scene.stream("/v1/events", { last: all.events[2]?.id ?? "" });
  await vi.waitFor(() => expect(middle.events).toEqual(all.events.slice(3)));
});

it("sends heartbeats while nothing happens", async () => {
  const stream = await scene.stream(`/v1/sessions/${await scene.written(0)}/events`);
  await vi.waitFor(() => expect(stream.comments.length).toBeGreaterThan(2));
  expect(stream.events).toHaveLength(1);
});

it("stops following the log when its readers disconnect", async () => {
  const sessionId = await scene.written(5);
  const leaving = new AbortController();
  const follows = vi.spyOn(scene.store, "followText");
  const readers = await Promise.all(
    Array.from({ length: 8 }, () => scene.stream(`/v1/sessions/${sessionId}/events`, { signal: leaving.signal })),
  );
  await vi.waitFor(() => expect(readers.every(({ events }) => events.length === 6)).toBe(true));
  expect(await streams()).toEqual(["rookery_streams 8", "rookery_stream_logs 1"]);
  expect(follows.mock.calls.length).toBeLessThan(8); // readers at the same position share one follower
  leaving.abort();
  await vi.waitFor(async () => expect(await streams()).toEqual(["rookery_streams 0", "rookery_stream_logs 0"]));
  const { signal } = follows.mock.calls[0]?.[0] ?? {};
  expect(signal?.aborted).toBe(true);
});

it("ends the stream of a deleted session with a gone event", async () => {
  const sessionId = await scene.written(1);
  const stream = await scene.stream(`/v1/sessions/${sessionId}/events`);
  await vi.waitFor(() => expect(stream.events).toHaveLength(2));
  expect((await scene.call("DELETE", `/v1/sessions/${sessionId}`)).status).toBe(200);
  await stream.ended;
  expect(stream.events.at(-1)).toMatchObject({ event: "gone", data: expect.stringContaining("session_not_found") });
  expect((await scene.get(`/v1/sessions/${sessionId}`)).status).toBe(404);
});

it("sends neither a body nor a stream for HEAD", async () => {
  const sessionId = await scene.written(1);
  const headers = { accept: "text/event-stream" };
  const { status, text } = await scene.call("HEAD", `/v1/sessions/${sessionId}/events`, undefined, { headers });
  expect([status, text]).toEqual([200, ""]);
});

it("sends an event larger than a piece, and the events after it", async () => {
  const sessionId = await scene.written(0);
  const stream = await scene.stream(`/v1/sessions/${sessionId}/events`);
  const at = new Date().toISOString();
  const text = "ü".repeat(400_000);
  const events = [{ type: "message.delta" as const, at, agent: "a", messageId: "m", text }];
  await scene.store.append({ sessionId, id: newId("app"), expectedHead: 1, events });
  await appendNotices(scene.store, sessionId, 2, 1_500);
  await vi.waitFor(() => expect(stream.events).toHaveLength(1_502));
  expect(JSON.parse(stream.events[1]?.data ?? "")).toMatchObject({ seq: 2, text });
});

it("ends streams on close after running requests, and refuses new ones", async () => {
  const stream = await scene.stream(`/v1/sessions/${await scene.written(1)}/events`);
  await vi.waitFor(() => expect(stream.events).toHaveLength(2));
  let go = (): void => undefined;
  const list = vi.spyOn(scene.store, "list").mockReturnValueOnce(new Promise((resolve) => (go = () => resolve([]))));
  const running = scene.get("/v1/sessions");
  await vi.waitFor(() => expect(list).toHaveBeenCalled());
  const closed = scene.server.close();
  await stream.ended;
  expect(stream.comments.at(-1)).toBe("the server is shutting down");
  await expect(fetch(`${scene.server.url}/v1/health`)).rejects.toThrow();
  go();
  expect((await running).json).toEqual({ sessions: [] });
  await closed;
});
