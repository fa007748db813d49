import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transformWithEsbuild } from "vite";
import { expect, it } from "vitest";
import { deadline } from "./deadline.ts";

const settled = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));

it("fires after the time, or earlier with another signal", async () => {
  using short = deadline(10);
  expect(await settled(short.signal)).toMatchObject({ name: "TimeoutError" });
  expect(short.isLate).toBe(true);
  const other = new AbortController();
  using long = deadline(60_000, other.signal);
  other.abort("enough");
  expect([long.signal.reason, long.isLate]).toEqual(["enough", false]);
});

it("is not garbage-collected while a listener waits", async () => {
  const file = fileURLToPath(new URL("./deadline.ts", import.meta.url));
  const { code } = await transformWithEsbuild(await readFile(file, "utf8"), file);
  const script = `${code}
    const fired = (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("fired"), { once: true }));
    const wait = fired(deadline(300, new AbortController().signal).signal);
    setTimeout(() => globalThis.gc(), 50);
    console.log(await Promise.race([wait, new Promise((resolve) => setTimeout(resolve, 5_000, "lost"))]));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--input-type=module", "-e", script], {
    env: {},
  });
  expect(stdout).toBe("fired\n");
});

it("treats a delay above 2^31 ms as far in the future, not as zero", async () => {
  using far = deadline(2 ** 40);
  using soon = deadline(20);
  await settled(soon.signal);
  expect(far.isLate).toBe(false);
});
