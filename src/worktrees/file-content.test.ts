import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/index.ts";
import { describeContent } from "./file-content.ts";

it("describes a file and a missing one, but nothing that cannot be examined", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "a.txt"), "one\n");
  expect(await describeContent(folder.path, "a.txt")).toMatch(/^100644 4 [0-9a-f]{64}$/);
  expect(await describeContent(folder.path, "b.txt")).toBe("deleted");
  expect(await describeContent(folder.path, "x".repeat(1_000))).toBeUndefined();
});

it.runIf(process.platform === "linux")("does not describe a file that cannot be read", async () => {
  expect(await describeContent("/proc/self", "mem")).toBeUndefined(); // reading its start fails, even for root
});
