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

it("runs merges one at a time, in order, even if some fail", async () => {
  await using folder = await temporaryFolder();
  const here = { commonDir: folder.path };
  const log: string[] = [];
  const one = (name: string, fails = false) =>
    runInMergeQueue(here, async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = await Promise.allSettled([one("a"), one("b", true), one("c")]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  expect(existsSync(join(folder.path, LOCK))).toBe(false);
});

it("does not make repositories wait for each other", async () => {
  await using one = await temporaryFolder();
  await using other = await temporaryFolder();
  const held = deferred();
  const first = runInMergeQueue({ commonDir: one.path }, () => held.promise);
  expect(await runInMergeQueue({ commonDir: other.path }, async () => "through")).toBe("through");
  held.resolve();
  await first;
});

it("stops waiting at once on abort without letting the next merge start early", async () => {
  await using folder = await temporaryFolder();
  const here = { commonDir: folder.path };
  const held = deferred();
  const log: string[] = [];
  const first = runInMergeQueue(here, async () => {
    await held.promise;
    log.push("first");
  });
  const own = new AbortController();
  const second = runInMergeQueue(here, async () => void log.push("second"), { signal: own.signal });
  const third = runInMergeQueue(here, async () => void log.push("third"));
  own.abort(new Error("aborted"));
  await expect(second).rejects.toThrow("aborted");
  await vi.waitFor(() => expect(existsSync(join(folder.path, LOCK))).toBe(true));
  expect(log).toEqual([]);
  held.resolve();
  await Promise.all([first, third]);
  expect(log).toEqual(["first", "third"]);
});

it("waits for the merge of a live process but not of a dead one", async () => {
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
  own.abort(new Error("aborted"));
  await expect(waits).rejects.toThrow("aborted");
  expect(await readFile(lock, "utf8")).toBe(living);
  await writeFile(lock, "1.long-gone.dead");
  expect(await runInMergeQueue(here, async () => "through")).toBe("through");
  expect(existsSync(lock)).toBe(false);
});

it("rejects a merge with repository_locked if 1000 are waiting", async () => {
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
    /1000 merges are already waiting/,
  );
  own.abort(new Error("aborted"));
  expect((await Promise.allSettled(rest)).every(({ status }) => status === "rejected")).toBe(true);
  held.resolve();
  await first;
  expect(await runInMergeQueue(here, async () => "through")).toBe("through");
});
