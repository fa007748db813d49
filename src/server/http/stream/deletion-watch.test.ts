import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openHttp, type HttpScene } from "../test-scene.ts";
import { DeletionWatch } from "./deletion-watch.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp([], { times: { deletions: 20 } });
});
afterEach(() => scene[Symbol.asyncDispose]());

const ANNOUNCED = "session.deleted";
type Stream = Awaited<ReturnType<HttpScene["stream"]>>;
const deletionsOf = (stream: Stream) =>
  stream.events
    .filter(({ event }) => event === ANNOUNCED)
    .map(({ data }) => (JSON.parse(data) as { readonly sessionId: string }).sessionId);

it("announces a session that was deleted without this server, once, to readers that asked for it", async () => {
  const [listed, kept] = [await scene.written(1), await scene.written(1)];
  await scene.get("/v1/roster");
  const told = await scene.stream("/v1/events?deletions=true");
  const untold = await scene.stream("/v1/events");
  const created = await scene.written(1); // in no roster: the stream has it
  await vi.waitFor(() => expect(told.events).toHaveLength(6));
  await scene.rookery.deleteSession(listed);
  await scene.rookery.deleteSession(created);
  await vi.waitFor(() => expect(deletionsOf(told).sort()).toEqual([listed, created].sort()));
  await scene.call("DELETE", `/v1/sessions/${kept}`);
  await vi.waitFor(() => expect(deletionsOf(told)).toHaveLength(3));
  const later = await scene.written(1);
  await scene.rookery.deleteSession(later);
  await vi.waitFor(() => expect(deletionsOf(told).at(-1)).toBe(later)); // after at least one more comparison
  expect(deletionsOf(told)).toHaveLength(4);
  expect(deletionsOf(untold)).toEqual([]);
});

it("announces a session of the last roster although another stream got a page before anybody watched", async () => {
  const other = await scene.stream("/v1/events");
  const listed = await scene.written(1);
  await vi.waitFor(() => expect(other.events.length).toBe(2));
  await scene.get("/v1/roster");
  await scene.written(1);
  await vi.waitFor(() => expect(other.events.length).toBe(4));
  await scene.rookery.deleteSession(listed);
  const told = await scene.stream("/v1/events?deletions=true");
  await vi.waitFor(() => expect(deletionsOf(told)).toEqual([listed]));
});

it("does not read the store while nobody watches, and takes no session for deleted that only left the list", async () => {
  const lists: string[] = [];
  const deleted: string[] = [];
  const listed = { ids: ["ses_3", "ses_2"] };
  const watch = new DeletionWatch({
    store: {
      list: () => {
        lists.push("list");
        return Promise.resolve(listed.ids.map((id) => ({ id }) as never));
      },
      summary: (id) => Promise.resolve(id === "ses_copy" ? ({ id } as never) : undefined),
    },
    intervalMs: 1,
    onDeleted: (id) => void deleted.push(id),
  });
  watch.replaceKnown(["ses_1"]);
  watch.replaceKnown(["ses_3", "ses_copy"]); // a later roster replaces an earlier one
  expect(lists).toEqual([]);
  const end = watch.watch();
  await vi.waitFor(() => expect(lists.length).toBeGreaterThan(1));
  expect(deleted).toEqual([]);
  listed.ids = ["ses_3"];
  await vi.waitFor(() => expect(deleted).toEqual(["ses_2"]));
  end();
  const count = lists.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(lists).toHaveLength(count);
});
