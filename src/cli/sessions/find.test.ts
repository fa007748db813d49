import { beforeAll, expect, it } from "vitest";
import { openMemoryStore } from "../../store/memory.ts";
import type { SessionStore } from "../../domain/store.ts";
import { findSession } from "./find.ts";
import { openTestSession } from "./test-sessions.ts";

let store: SessionStore;
const IDS = ["ses_0aaa1", "ses_0aaa2", "ses_0bbb1", "ses_0123456789abcdxk7m2q9", "ses_0123456789zzzzxk7m333"];
const HERE = { cwd: () => "/" };

beforeAll(async () => {
  store = openMemoryStore();
  for (const id of IDS) await openTestSession(store, id);
});

it.each([
  ["ses_0aaa1", "ses_0aaa1"],
  ["ses_0b", "ses_0bbb1"],
  ["0bbb", "ses_0bbb1"],
  ["dxk7m2q9", "ses_0123456789abcdxk7m2q9"],
  ["dxk", "ses_0123456789abcdxk7m2q9"],
  ["last", "ses_0bbb1"],
])("resolves %s to %s", async (named, id) => {
  expect((await findSession(store, named, HERE)).id).toBe(id);
});

it.each([
  ["ses_0aaa", "usage", "2 sessions match ses_0aaa: ses_0aaa2, ses_0aaa1; type more characters of the id"],
  ["0", "usage", "5 sessions match 0: ses_0bbb1, "],
  ["ses_", "session_not_found", "no session ses_"],
  ["", "session_not_found", "no session"],
  ["ses_9", "session_not_found", "list all sessions: rookery sessions"],
  ["7m2q9", "session_not_found", "list all sessions: rookery sessions"],
])("rejects %j with %s", async (named, code, message) => {
  await expect(findSession(store, named, HERE)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});

it("lists at most five candidates", async () => {
  await openTestSession(store, "ses_0ccc1");
  await expect(findSession(store, "0", HERE)).rejects.toThrow(
    /^more than 5 sessions match 0: ses_0ccc1, (ses_\w+, ){3}ses_\w+; /,
  );
});
