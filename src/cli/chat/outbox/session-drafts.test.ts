import { mkdir, readdir, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MAX_INPUT_BYTES } from "../../../session/input.ts";
import { temporaryFolder } from "../../../testing/index.ts";
import { SessionDrafts } from "./session-drafts.ts";

it("keeps what the chats of each session left until it is taken, for nobody else to read", async () => {
  await using home = await temporaryFolder();
  const drafts = new SessionDrafts(home.path);
  expect(await drafts.take("ses_1")).toBeUndefined();
  expect(await drafts.keep("ses_1", "one")).toBe(true);
  expect(await drafts.keep("ses_1", "two\n\nlines")).toBe(true);
  expect(await drafts.keep("ses_2", "other")).toBe(true);
  const folder = join(home.path, "chat-drafts");
  expect(await readdir(folder)).toHaveLength(2);
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  expect(await drafts.take("ses_1")).toBe("one\n\ntwo\n\nlines");
  expect(await drafts.take("ses_1")).toBeUndefined();
  expect(await drafts.take("ses_2")).toBe("other");
});

it("removes the oldest of more than 100 drafts", async () => {
  await using home = await temporaryFolder();
  const folder = join(home.path, "chat-drafts");
  await mkdir(folder);
  for (let at = 1; at <= 100; at += 1) {
    await writeFile(join(folder, `ses_${at}.txt`), "x");
    await utimes(join(folder, `ses_${at}.txt`), at, at === 50 ? 1 : at + 1);
  }
  const drafts = new SessionDrafts(home.path);
  expect(await drafts.keep("ses_new", "new")).toBe(true);
  expect(await readdir(folder)).toHaveLength(100);
  expect(await drafts.take("ses_50")).toBeUndefined();
  expect(await drafts.take("ses_new")).toBe("new");
});

it("keeps a draft even if old ones cannot be removed", async () => {
  await using home = await temporaryFolder();
  const folder = join(home.path, "chat-drafts");
  await mkdir(folder);
  for (let at = 1; at <= 100; at += 1) await symlink("nowhere", join(folder, `ses_${at}.txt`));
  const drafts = new SessionDrafts(home.path);
  expect(await drafts.keep("ses_new", "new")).toBe(true);
  expect(await drafts.take("ses_new")).toBe("new");
});

it("refuses a text that is too long together with the draft, and keeps the draft", async () => {
  await using home = await temporaryFolder();
  const drafts = new SessionDrafts(home.path);
  expect(await drafts.keep("ses_1", "one")).toBe(true);
  expect(await drafts.keep("ses_1", "x".repeat(MAX_INPUT_BYTES - 4))).toBe(false);
  expect(await drafts.take("ses_1")).toBe("one");
});

it("refuses a text that is too long for an input, and a home that is a file", async () => {
  await using home = await temporaryFolder();
  expect(await new SessionDrafts(home.path).keep("ses_1", "x".repeat(MAX_INPUT_BYTES + 1))).toBe(false);
  await writeFile(join(home.path, "file"), "");
  expect(await new SessionDrafts(join(home.path, "file")).keep("ses_1", "x")).toBe(false);
});
