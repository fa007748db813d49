import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/index.ts";
import { makeFolder } from "./index.ts";

it("creates missing folders with mode 0700 and accepts existing ones", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "a", "b");
  makeFolder(path);
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it.runIf(process.platform === "linux")("fails if a folder can never be created", () => {
  expect(() => makeFolder("/proc/nothing/of/the/kind")).toThrow("ENOENT");
});
