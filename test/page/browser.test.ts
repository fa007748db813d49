// own process: starts a browser
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findBrowser, writeProgramOnce } from "./browser.ts";

const mustRun =
  process.env["ROOKERY_REQUIRE_BROWSER"] === "1" && process.platform === "linux" && process.arch === "x64";

it.runIf(mustRun)("finds a browser, so that no test of the page is skipped", async () => {
  expect(await findBrowser()).toEqual({ executable: expect.any(String) });
});

it("does not replace the browser when another test file has unpacked it", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "programs", "browser");
  await writeProgramOnce(path, new Uint8Array([1]));
  const { ino } = await stat(path);
  await writeProgramOnce(path, new Uint8Array([2]));
  expect((await stat(path)).ino).toBe(ino);
  expect(await readdir(join(path, ".."))).toEqual(["browser"]);
});
