import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentSpec, BackendKind } from "../../domain/index.ts";
import { processesMarked } from "../../stdx/index.ts";
import { builtEnvironment } from "../../testing/environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/repository.ts";
import { findPrograms, type FindOptions } from "./index.ts";
import { compareVersions } from "./version.ts";

let folder: TemporaryFolder;
let env: Record<string, string>;
let asked = 0;
beforeEach(async () => {
  folder = await temporaryFolder();
  asked += 1;
  env = builtEnvironment({ home: folder.path, extra: { ROOKERY_OWNER: marker() } });
  env["PATH"] = `${join(folder.path, "bin")}:/usr/bin:/bin`;
});
afterEach(() => folder[Symbol.asyncDispose]());
const marker = () => `found-${process.pid}-${asked}`;

async function install(path: string, script: string): Promise<string> {
  const file = join(folder.path, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

function agent(backend: BackendKind, command?: readonly string[]): AgentSpec {
  return { name: backend, backend, model: undefined, permissions: undefined, prompts: [], command };
}

async function found(spec: AgentSpec, more: Partial<FindOptions> = {}) {
  const cacheFolder = join(folder.path, "cache");
  const programs = await findPrograms([spec], { env, cwd: folder.path, cacheFolder, ...more });
  return programs.get(spec.name);
}

describe("finding a program", () => {
  it("queries the version of a program on the PATH without secrets", async () => {
    env["ANTHROPIC_API_KEY"] = "secret";
    const path = await install("bin/claude", `env >"$HOME/seen"; echo "2.1.325 (Claude Code)"`);
    expect(await found(agent("claude-code"))).toMatchObject({
      program: "claude",
      path,
      from: "path",
      version: "2.1.325",
      is: "tested",
      login: { state: "logged in", by: "ANTHROPIC_API_KEY" },
      install: undefined,
      known: [expect.stringContaining("as root"), expect.stringContaining("pin the version")],
    });
    const seen = await readFile(join(folder.path, "seen"), "utf8");
    expect(seen).not.toContain("secret");
    expect(seen).toContain("HOME=");
  });

  it.each([
    ["codex-cli 0.166.0", "0.166.0", "tested"],
    ["codex-cli 0.167.0-alpha.2", "0.167.0-alpha.2", "newer"],
    ["codex-cli 0.99.9", "0.99.9", "older"],
    ["codex-cli", undefined, "unknown"],
  ])("compares the version in %j with the tested one", async (says, version, is) => {
    await install("bin/codex", `echo '${says}'`);
    expect(await found(agent("codex"))).toMatchObject({ version, is });
  });

  it("finds the version after noise", async () => {
    await install(
      "bin/gemini",
      `printf 'Loaded cached credentials.\\n\\033[32m\\377 update\\033[0m\\n'; echo v0.61.0; echo 9.9.9`,
    );
    expect(await found(agent("gemini-cli"))).toMatchObject({ version: "0.61.0", is: "tested" });
  });

  it.each([
    ["hangs", "trap '' TERM; while :; do sleep 1; done"],
    ["hangs after printing its version", "echo 1.18.33; while :; do sleep 1; done"],
    ["crashes", "echo no >&2; kill -SEGV $$"],
    ["prints endlessly", "yes"],
  ])("does not wait for a program that %s, and leaves no process", async (_, script) => {
    await install("bin/opencode", script);
    const since = performance.now();
    const program = await found(agent("opencode"), { deadlineMs: 300 });
    expect(performance.now() - since).toBeLessThan(15_000);
    expect(program).toMatchObject({ program: "opencode", from: "path" });
    expect(processesMarked(marker())).toEqual([]);
  });

  it("returns the install command of a missing program", async () => {
    env["PATH"] = "/nowhere";
    expect(await found(agent("codex"))).toMatchObject({
      path: undefined,
      version: undefined,
      install: "npm install -g @openai/codex@0.166.0",
    });
  });

  it("reads the version of a program in node_modules without running it", async () => {
    env["PATH"] = "/usr/bin:/bin";
    await install("node_modules/@openai/codex/bin/codex.js", `touch "$HOME/was-run"`);
    await writeFile(
      join(folder.path, "node_modules/@openai/codex/package.json"),
      JSON.stringify({ name: "@openai/codex", version: "0.150.1" }),
    );
    await mkdir(join(folder.path, "node_modules/.bin"), { recursive: true });
    await symlink("../@openai/codex/bin/codex.js", join(folder.path, "node_modules/.bin/codex"));
    const below = join(folder.path, "src");
    await mkdir(below);
    expect(await found(agent("codex"), { cwd: below })).toMatchObject({
      from: "node_modules",
      version: "0.150.1",
      is: "older",
    });
    await expect(readFile(join(folder.path, "was-run"))).rejects.toThrow("ENOENT");
  });

  it.each([
    ["npm or npx added its folder", () => join(folder.path, "node_modules/.bin")],
    ["a relative folder is on it", () => relative(process.cwd(), join(folder.path, "tools"))],
  ])("does not run a program that is on the PATH only because %s", async (_, place) => {
    await install("node_modules/.bin/claude", `touch "$HOME/was-run"; echo 2.1.325`);
    await install("tools/claude", `touch "$HOME/was-run"; echo 2.1.325`);
    env["PATH"] = `${place()}:/usr/bin:/bin`;
    expect(await found(agent("claude-code"))).toMatchObject({ from: "node_modules", version: undefined });
    await expect(readFile(join(folder.path, "was-run"))).rejects.toThrow("ENOENT");
  });

  it("queries the version outside of any repository", async () => {
    await install("bin/opencode", `pwd >"$HOME/where"; echo 1.18.33`);
    const cwd = join(folder.path, "repository");
    await mkdir(cwd);
    expect(await found(agent("opencode"), { cwd })).toMatchObject({ version: "1.18.33" });
    expect(await readFile(join(folder.path, "where"), "utf8")).toBe("/\n");
  });

  it("queries a program that is configured by a relative path", async () => {
    const cwd = join(folder.path, "repository");
    await install("repository/tools/codex.js", "");
    await writeFile(join(cwd, "tools/codex.js"), "console.log('codex-cli 0.166.0')");
    const command = [process.execPath, "tools/codex.js"];
    expect(await found(agent("codex", command), { cwd })).toMatchObject({ version: "0.166.0" });
  });

  it("caches the version per name if a shim serves several programs", async () => {
    const shim = await install("bin/shim", `case "$0" in *codex) echo 0.166.0;; *) echo 2.1.325;; esac`);
    for (const name of ["claude", "codex"]) await symlink(shim, join(folder.path, "bin", name));
    expect(await found(agent("claude-code"))).toMatchObject({ version: "2.1.325" });
    expect(await found(agent("codex"))).toMatchObject({ version: "0.166.0" });
  });

  it("finds a program whose package.json is not a file or is huge", async () => {
    env["PATH"] = "/usr/bin:/bin";
    await install("node_modules/.bin/claude", "");
    execFileSync("mkfifo", [join(folder.path, "node_modules/package.json")]);
    await writeFile(
      join(folder.path, "package.json"),
      JSON.stringify({ name: "@anthropic-ai/claude-code", version: "1.0.0", more: "x".repeat(2_000_000) }),
    );
    expect(await found(agent("claude-code"))).toMatchObject({ from: "node_modules", version: undefined });
  });

  it("does not start a program if the signal has already fired", async () => {
    await install("bin/opencode", "while :; do sleep 1; done");
    const program = await found(agent("opencode"), { signal: AbortSignal.abort(), deadlineMs: 600_000 });
    expect(program).toMatchObject({ from: "path", version: undefined });
    expect(processesMarked(marker())).toEqual([]);
  });

  it("queries a configured command if it is the program, not if it may download it", async () => {
    const own = await install("tools/codex", "echo codex-cli 0.166.0");
    expect(await found(agent("codex", [own]))).toMatchObject({ from: "configured", path: own, version: "0.166.0" });
    const npx = await install("bin/npx", `touch "$HOME/downloaded"; echo 0.166.0`);
    expect(await found(agent("codex", ["npx", "-y", "x"]))).toMatchObject({ path: npx, version: undefined });
    await expect(readFile(join(folder.path, "downloaded"))).rejects.toThrow("ENOENT");
    expect(await found(agent("codex", ["./no-such"]))).toMatchObject({ path: undefined });
  });

  it("finds a program of any kind by its command", async () => {
    const own = await install("bin/mine", "");
    expect(await found(agent("command", ["mine", "{prompt}"]))).toMatchObject({ program: "mine", path: own });
    expect(await found(agent("acp", ["no-such-program"]))).toMatchObject({ path: undefined, login: undefined });
  });
});

it("queries again only if the program changed, and tolerates a broken cache", async () => {
  const path = await install("bin/codex", `echo asked >>"$HOME/asked"; echo 0.166.0`);
  const times = async () => (await readFile(join(folder.path, "asked"), "utf8")).trim().split("\n").length;
  await found(agent("codex"));
  expect(await found(agent("codex"))).toMatchObject({ version: "0.166.0" });
  expect(await times()).toBe(1);
  await utimes(path, new Date(0), new Date(0));
  await found(agent("codex"));
  expect(await times()).toBe(2);
  await writeFile(join(folder.path, "cache", "versions.json"), "[1,");
  expect(await found(agent("codex"))).toMatchObject({ version: "0.166.0" });
  expect(await times()).toBe(3);
});

describe("detecting a login", () => {
  it.each([
    ["claude-code", {}, "", "logged out"],
    ["claude-code", {}, ".claude/.credentials.json", "logged in"],
    ["claude-code", { CLAUDE_CODE_OAUTH_TOKEN: "x" }, "", "logged in"],
    ["claude-code", { ANTHROPIC_API_KEY: "" }, "", "logged out"],
    ["codex", {}, "", "logged out"],
    ["codex", {}, ".codex/auth.json", "logged in"],
    ["codex", {}, ".codex/config.toml", "unknown"],
    ["codex", { OPENAI_API_KEY: "x" }, "", "logged out"],
    ["gemini-cli", {}, ".gemini/oauth_creds.json", "logged in"],
    ["gemini-cli", { GEMINI_API_KEY: "x" }, "", "logged in"],
    ["gemini-cli", {}, ".gemini/.env", "unknown"],
    ["gemini-cli", {}, "", "logged out"],
    ["opencode", {}, ".local/share/opencode/auth.json", "logged in"],
    ["opencode", { SOME_API_KEY: "x" }, "", "logged in"],
    ["opencode", {}, ".config/opencode/package.json", "logged out"],
    ["opencode", {}, ".config/opencode/opencode.json", "unknown"],
    ["opencode", {}, "", "logged out"],
  ] as const)("returns for %s with variables %j and file %j: %s", async (backend, extra, file, state) => {
    const path = join(folder.path, file);
    if (file !== "") {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, "", { mode: 0o000 }); // proves that the file is not read
    }
    Object.assign(env, extra);
    expect((await found(agent(backend)))?.login).toMatchObject({ state, how: expect.any(String) as string });
  });
});

it.each([
  [{ apiKeyHelper: "print-key" }, "unknown"],
  [{ env: { ANTHROPIC_API_KEY: "x" } }, "unknown"],
  [{ theme: "dark" }, "logged out"],
])("with the settings %j of Claude Code, the login is %s", async (settings, state) => {
  await install(".claude/settings.json", JSON.stringify(settings));
  expect((await found(agent("claude-code")))?.login).toMatchObject({ state });
});

it("checks the login in the agent's own environment", async () => {
  const own = { ...agent("claude-code"), env: { CLAUDE_CONFIG_DIR: join(folder.path, "other") } };
  await install("other/.credentials.json", "");
  expect((await found(own))?.login).toMatchObject({ state: "logged in" });
  expect((await found(agent("claude-code")))?.login).toMatchObject({ state: "logged out" });
});

it.each([
  ["1.2.3", "1.2.3", 0],
  ["1.2.10", "1.2.9", 1],
  ["0.9.0", "1.0.0", -1],
  ["1.0.0-beta.1", "1.0.0", -1],
  ["1.0.1-beta.1", "1.0.0", 1],
])("compares %s with %s as %i", (one, other, is) => {
  expect(compareVersions(one, other)).toBe(is);
});
