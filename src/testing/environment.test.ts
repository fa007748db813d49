import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, expect, it, vi } from "vitest";
import { builtEnvironment } from "./environment.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it("passes only PATH of the inherited variables", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "a real key");
  vi.stubEnv("NO_COLOR", "1");
  const env = builtEnvironment({ home: "/nowhere" });
  const { stdout } = await promisify(execFile)(process.execPath, ["-p", "JSON.stringify(process.env)"], { env });
  expect(JSON.parse(stdout)).toEqual(env);
  expect(env["PATH"]).toBe(process.env["PATH"]);
  expect(env).not.toHaveProperty("ANTHROPIC_API_KEY");
  expect(env).not.toHaveProperty("NO_COLOR");
});

it("puts every folder inside the given home", () => {
  const { HOME, ROOKERY_HOME, ...env } = builtEnvironment({ home: "/nowhere" });
  const folders = Object.entries(env).filter(([name]) => name.startsWith("XDG_"));
  expect(HOME).toBe("/nowhere");
  expect(folders).toHaveLength(5);
  for (const folder of [ROOKERY_HOME, ...folders.map(([, value]) => value)]) expect(folder).toMatch(/^\/nowhere\//);
});

it("prefers the extra variables", () => {
  const env = builtEnvironment({
    home: "/nowhere",
    extra: { TERM: "xterm", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" },
  });
  expect(env).toMatchObject({ TERM: "xterm", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" });
});
