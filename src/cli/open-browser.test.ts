import { expect, it } from "vitest";
import { browserCommand } from "./open-browser.ts";

it.each<[NodeJS.Platform, Record<string, string>, string | undefined]>([
  ["linux", { DISPLAY: ":0" }, "xdg-open"],
  ["linux", { WAYLAND_DISPLAY: "wayland-0" }, "xdg-open"],
  ["linux", {}, undefined],
  ["linux", { DISPLAY: ":0", SSH_CONNECTION: "1.2.3.4 5 6.7.8.9 22" }, undefined],
  ["linux", { DISPLAY: ":0", CI: "true" }, undefined],
  ["darwin", {}, "open"],
  ["darwin", { ROOKERY_NO_BROWSER: "1" }, undefined],
])("on %s with %j, the browser is opened with %s", (platform, env, command) => {
  expect(browserCommand({ env }, platform)).toBe(command);
});
