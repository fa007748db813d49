import { join } from "node:path";
import { userInfo } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { homeFolder, userConfigFile } from "./home.ts";

const own = userInfo().homedir;
afterEach(() => vi.restoreAllMocks());

it.each([
  ["ROOKERY_HOME", { ROOKERY_HOME: "/r", XDG_STATE_HOME: "/s", HOME: "/h" }, "/r"],
  ["a ROOKERY_HOME relative to the working directory", { ROOKERY_HOME: "r" }, join(process.cwd(), "r")],
  ["the XDG state directory", { ROOKERY_HOME: "", XDG_STATE_HOME: "/s", HOME: "/h" }, "/s/rookery"],
  [
    "the default directory if the XDG directory is relative",
    { XDG_STATE_HOME: "s", HOME: "/h" },
    "/h/.local/state/rookery",
  ],
  ["the default directory", { HOME: "/h" }, "/h/.local/state/rookery"],
  ["the account's home directory if HOME is not set", {}, join(own, ".local/state/rookery")],
])("stores state in %s", (_, env, expected) => {
  expect(homeFolder(env)).toBe(expected);
});

it.each([
  ["the XDG directory", { XDG_CONFIG_HOME: "/c", HOME: "/h" }, "/c/rookery/rookery.toml"],
  ["the default directory", { HOME: "/h" }, "/h/.config/rookery/rookery.toml"],
])("finds the user's configuration in %s", (_, env, expected) => {
  expect(userConfigFile(env)).toBe(expected);
});

it("rejects a home that is relative to a removed directory", () => {
  vi.spyOn(process, "cwd").mockImplementation(() => {
    throw Object.assign(new Error("ENOENT: no such file or directory, uv_cwd"), { code: "ENOENT" });
  });
  expect(() => homeFolder({ ROOKERY_HOME: "r" })).toThrow(expect.objectContaining({ code: "cwd_missing" }));
  expect(() => homeFolder({ ROOKERY_HOME: "r" })).toThrow(/ROOKERY_HOME .* "r".* was removed.* absolute path/);
  expect(homeFolder({ ROOKERY_HOME: "/r" })).toBe("/r");
});
