import { expect, it } from "vitest";
import { temporaryFolder } from "../../testing/index.ts";
import { diskFinding, readDiskSpace } from "./disk.ts";

const MB = 1024 * 1024;
const disk = { path: "/home/me", total: 100_000 * MB, freeFiles: 5_000 };

it.each([
  [50_000 * MB, "ok", "free (/home/me)"],
  [500 * MB, "warning", "nearly full"],
  [20 * MB, "problem", "the disk of /home/me is full: 21.0 MB of"],
  [0, "problem", "is full"],
])("reports %d free bytes as %s", (free, status, detail) => {
  const found = diskFinding({ ...disk, free });
  expect(found.status).toBe(status);
  expect(found.detail).toContain(detail);
  expect(found.advice === undefined).toBe(status === "ok");
});

it("reports a disk without free inodes as a problem", () => {
  expect(diskFinding({ ...disk, free: 50_000 * MB, freeFiles: 0 })).toMatchObject({ status: "problem" });
});

it("reads the space of a real disk, and nothing for a missing path", async () => {
  await using folder = await temporaryFolder();
  expect((await readDiskSpace(folder.path))?.total).toBeGreaterThan(0);
  expect(await readDiskSpace("/does/not/exist")).toBeUndefined();
});
