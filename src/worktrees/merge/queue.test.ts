import { setMaxListeners } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { deferred, isDeadOwner } from "../../stdx/index.ts";
import { temporaryFolder } from "../../testing/repository.ts";
import { expectRejection } from "../test-scene.ts";
import { runInMergeQueue } from "./index.ts";

const LOCK = "rookery-merge.lock";

it("merges go one at a time, in the order they came, although some fail", async () => {
  await using folder = await temporaryFolder();
  const here = { commonDir: folder.path };
  const told: string[] = [];
  const one = (name: string, fails = false) =>
    runInMergeQueue(here, async () => {
      told.push(`${name} begins`);
      await Promise.resolve();
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = await Promise.allSettled([one("a"), one("b", true), one("c")]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(told).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  expect(existsSync(join(folder.path, LOCK))).toBe(false);
});

it("repositories do not wait for each other", async () => {
  await using one = await temporaryFolder();
  await using other = await temporaryFolder();
  const held = deferred();
  const first = runInMergeQueue({ commonDir: one.path }, () => held.promise);
  expect(await runInMergeQueue({ commonDir: other.path }, async () => "through")).toBe("through");
  held.resolve();
  await first;
});

it("who gives up leaves at once, and lets nobody in too early", async () => {
  await using folder = await temporaryFolder();
  const here = { commonDir: folder.path };
  const held = deferred();
  const told: string[] = [];
  const first = runInMergeQueue(here, async () => {
    await held.promise;
    told.push("first");
  });
  const own = new AbortController();
  const second = runInMergeQueue(here, async () => void told.push("second"), { signal: own.signal });
  const third = runInMergeQueue(here, async () => void told.push("third"));
  own.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  await vi.waitFor(() => expect(existsSync(join(folder.path, LOCK))).toBe(true));
  expect(told).toEqual([]);
  held.resolve();
  await Promise.all([first, third]);
  expect(told).toEqual(["first", "third"]);
});

it("another process's merge is waited for, and a dead one's is not", async () => {
  await using folder = await temporaryFolder();
  const here = { commonDir: folder.path };
  const lock = join(folder.path, LOCK);
  let living = "";
  await runInMergeQueue(here, async () => {
    living = await readFile(lock, "utf8");
  });
  expect(isDeadOwner(living)).toBe(false);
  await writeFile(lock, living);
  const own = new AbortController();
  const waits = runInMergeQueue(here, async () => "through", { signal: own.signal });
  own.abort(new Error("enough"));
  await expect(waits).rejects.toThrow("enough");
  expect(await readFile(lock, "utf8")).toBe(living);
  await writeFile(lock, "1.long-gone.dead");
  expect(await runInMergeQueue(here, async () => "through")).toBe("through");
  expect(existsSync(lock)).toBe(false);
});

it("more than a thousand do not wait", async () => {
  await using folder = await temporaryFolder();
  const here = { commonDir: folder.path };
  const held = deferred();
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const first = runInMergeQueue(here, () => held.promise);
  const rest = Array.from({ length: 999 }, () => runInMergeQueue(here, () => held.promise, { signal: own.signal }));
  await expectRejection(
    runInMergeQueue(here, () => held.promise),
    "repository_locked",
    /1000 merges wait/,
  );
  own.abort(new Error("enough"));
  expect((await Promise.allSettled(rest)).every(({ status }) => status === "rejected")).toBe(true);
  held.resolve();
  await first;
  expect(await runInMergeQueue(here, async () => "through")).toBe("through");
});
