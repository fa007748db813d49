// own process: starts a browser
import { expect, it } from "vitest";
import { findBrowser } from "./browser.ts";

const mustRun =
  process.env["ROOKERY_REQUIRE_BROWSER"] === "1" && process.platform === "linux" && process.arch === "x64";

it.runIf(mustRun)("finds a browser, so that no test of the page is skipped", async () => {
  expect(await findBrowser()).toEqual({ executable: expect.any(String) });
});
