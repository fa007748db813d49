import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepFresh, watchFreshness } from "./index.ts";

let file: string;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rookery-fresh-"));
  file = join(folder, "lock");
  writeFileSync(file, "owner");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

it("is stale once content and time stay unchanged long enough, even if the system clock jumps", async () => {
  let now = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  vi.spyOn(Date, "now").mockReturnValue(Number.MAX_SAFE_INTEGER); // a clock that was set wrong
  const watch = watchFreshness(file, { ms: 30_000 });
  expect(await watch.isStale("owner")).toBe(false);
  now += 29_999;
  expect(await watch.isStale("owner")).toBe(false);
  utimesSync(file, new Date(0), new Date(0));
  now += 29_999;
  expect(await watch.isStale("owner")).toBe(false); // its owner gave a sign of life
  now += 29_999;
  expect(await watch.isStale("another")).toBe(false);
  now += 30_000;
  expect(await watch.isStale("another")).toBe(true);
});

it("is updated until its owner disposes of it", async () => {
  utimesSync(file, new Date(0), new Date(0));
  {
    using _fresh = keepFresh(file, { ms: 1 });
    await vi.waitFor(() => expect(statSync(file).mtimeMs).toBeGreaterThan(0));
  }
  rmSync(file);
  expect(await watchFreshness(file, { ms: 0 }).isStale("owner")).toBe(false);
});
