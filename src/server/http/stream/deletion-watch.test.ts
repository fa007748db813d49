import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deferred, type Deferred } from "../../../stdx/index.ts";
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

it("does not read the store while nobody watches, and does not report a session that only left the list", async () => {
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
  watch.addRoster(["ses_3", "ses_copy"]);
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

/** A store whose list answers only when the test says so. */
function openSlowWatch() {
  const lists: Deferred<readonly string[]>[] = [];
  const deleted: string[] = [];
  const watch = new DeletionWatch({
    store: {
      list: async () => {
        lists.push(deferred());
        return (await lists.at(-1)!.promise).map((id) => ({ id }) as never);
      },
      summary: () => Promise.resolve(undefined),
    },
    intervalMs: 1,
    onDeleted: (id) => void deleted.push(id),
  });
  const waitForList = async (number: number): Promise<Deferred<readonly string[]>> => {
    await vi.waitFor(() => expect(lists).toHaveLength(number));
    return lists[number - 1]!;
  };
  return { watch, deleted, waitForList };
}

it("keeps a roster that a page read while another page was watching, after the other page leaves", async () => {
  const { watch, deleted, waitForList } = openSlowWatch();
  const leave = watch.watch();
  watch.addRoster(["ses_2", "ses_1"]);
  leave();
  const end = watch.watch();
  (await waitForList(1)).resolve(["ses_2"]);
  await vi.waitFor(() => expect(deleted).toEqual(["ses_1"]));
  end();
});

it("keeps every roster that pages read before they watch", async () => {
  const { watch, deleted, waitForList } = openSlowWatch();
  watch.addRoster(["ses_1"]);
  watch.addRoster(["ses_2"]); // ses_1 was deleted in between
  const end = watch.watch();
  (await waitForList(1)).resolve(["ses_2"]);
  await vi.waitFor(() => expect(deleted).toEqual(["ses_1"]));
  end();
});

it("announces a deletion to the next page if the last one leaves during the comparison that finds it", async () => {
  const { watch, deleted, waitForList } = openSlowWatch();
  watch.addRoster(["ses_2", "ses_1"]);
  const leave = watch.watch();
  const first = await waitForList(1);
  leave();
  first.resolve(["ses_2"]);
  const end = watch.watch();
  (await waitForList(2)).resolve(["ses_2"]);
  await vi.waitFor(() => expect(deleted).toEqual(["ses_1"]));
  end();
});

it("forgets old rosters rather than a new one when it knows too many sessions", async () => {
  const { watch, deleted, waitForList } = openSlowWatch();
  watch.addRoster(Array.from({ length: 20_000 }, (_, index) => `ses_0${index}`));
  watch.addRoster(["ses_1"]);
  const end = watch.watch();
  (await waitForList(1)).resolve([]);
  await vi.waitFor(() => expect(deleted).toEqual(["ses_1"]));
  end();
});

it("announces a deletion once if the list was read before it, or a request announces it as well", async () => {
  const { watch, deleted, waitForList } = openSlowWatch();
  watch.addRoster(["ses_2", "ses_1"]);
  const end = watch.watch();
  const first = await waitForList(1);
  expect(watch.markAnnounced("ses_1")).toBe(true);
  first.resolve(["ses_2", "ses_1"]);
  (await waitForList(2)).resolve(["ses_2"]);
  (await waitForList(3)).resolve([]);
  await vi.waitFor(() => expect(deleted).toEqual(["ses_2"]));
  expect(watch.markAnnounced("ses_2")).toBe(true); // `onDeleted` of this test does not call it
  expect(watch.markAnnounced("ses_2")).toBe(false);
  watch.addRoster(["ses_1"]); // a reader still lists the session
  (await waitForList(4)).resolve([]);
  await vi.waitFor(() => expect(deleted).toEqual(["ses_2", "ses_1"]));
  end();
});
