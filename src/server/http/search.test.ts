import { expect, it } from "vitest";
import { openHttp } from "./test-scene.ts";

it("searches all logs in pages, and refuses a wrong cursor and an empty query", async () => {
  await using scene = await openHttp();
  const id = await scene.written(0);
  const stamp = { at: new Date().toISOString(), agent: "a" };
  const says = (text: string) => ({ ...stamp, type: "message.completed" as const, messageId: text, text });
  await scene.store.append({ sessionId: id, id: "app_1", expectedHead: 1, events: [says("Kea one"), says("kea two")] });
  const first = await scene.get("/v1/search?q=kea&limit=1");
  expect(first.json).toMatchObject({ matches: [{ sessionId: id, seq: 3, excerpt: "kea two" }], next: `${id}.3` });
  const second = await scene.get(`/v1/search?q=kea&cursor=${first.json.next}`);
  expect(second.json).toEqual({ matches: [expect.objectContaining({ seq: 2, excerpt: "Kea one" })] });
  expect((await scene.get("/v1/search?q=kea&cursor=x")).status).toBe(400);
  expect((await scene.get("/v1/search?q=")).status).toBe(400);
});
