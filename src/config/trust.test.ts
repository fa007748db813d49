import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { loadConfig } from "./load.ts";
import { copyTrust, requireTrust, trust, trustState } from "./trust.ts";

let folder: string;
let repo: string;
let env: EnvironmentVariables;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "rookery-trust-")));
  repo = join(folder, "repo");
  env = { HOME: folder, ROOKERY_HOME: join(folder, "state") };
  await mkdir(join(repo, ".git"), { recursive: true });
  await writeFile(join(repo, ".git", "HEAD"), "");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(files: Record<string, string | null>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(repo, path)), { recursive: true });
    if (text === null) await rm(join(repo, path));
    else await writeFile(join(repo, path), text);
  }
}

it("requires no trust for a repository without such files", async () => {
  await write({ "README.md": "hi", "package.json": "{}" });
  expect(await trustState(repo, env)).toEqual({ status: "nothing_to_trust", root: repo });
  expect(await trust(repo, env)).toEqual({ status: "nothing_to_trust", root: repo });
});

it("opens a repository whose AGENTS.md is not trusted, and records its content when it is trusted", async () => {
  await write({ "AGENTS.md": "hi" });
  expect((await loadConfig({ cwd: repo, env })).trust.status).toBe("nothing_to_trust");
  expect(await trust(repo, env)).toEqual({ status: "trusted", root: repo, files: ["AGENTS.md"] });
  await write({ "AGENTS.md": "ho" });
  expect(await trustState(repo, env)).toMatchObject({ status: "untrusted", changed: ["AGENTS.md"] });
});

const WITH_PROMPT = { "rookery.toml": `[agents.x]\nprompts = ["docs/x.md"]`, "docs/x.md": "be kind" };

it.each([
  ["a configuration", { "rookery.toml": "" }, ["rookery.toml"]],
  ["MCP servers", { ".mcp.json": "{}" }, [".mcp.json"]],
  ["a prompt file", WITH_PROMPT, ["rookery.toml", "docs/x.md"]],
])("uses %s only after trust", async (_, files, named) => {
  await write(files);
  expect(await trustState(repo, env)).toEqual({ status: "untrusted", root: repo, files: named, changed: [] });
  expect(await trust(join(repo, ".git"), env)).toEqual({ status: "trusted", root: repo, files: named });
  expect(await trustState(repo, env)).toEqual({ status: "trusted", root: repo, files: named });
});

it.each([
  ["a configuration", { "rookery.toml": `${WITH_PROMPT["rookery.toml"]}\n` }, ["rookery.toml"]],
  ["a prompt", { "docs/x.md": "be cruel" }, ["docs/x.md"]],
  ["a new .mcp.json", { ".mcp.json": "{}" }, [".mcp.json"]],
])("ends trust when %s changes", async (_, change, changed) => {
  await write(WITH_PROMPT);
  await trust(repo, env);
  await write(change);
  expect(await trustState(repo, env)).toMatchObject({ status: "untrusted", changed });
  await trust(repo, env);
  expect(await trustState(repo, env)).toMatchObject({ status: "trusted" });
});

it.each([
  ["an unrelated file changes", { "README.md": "x" }],
  ["a file is deleted", { ".mcp.json": null }],
])("keeps trust when %s", async (_, change) => {
  await write({ ...WITH_PROMPT, ".mcp.json": "{}" });
  await trust(repo, env);
  await write(change);
  expect(await trustState(repo, env)).toMatchObject({ status: "trusted" });
});

it("binds trust to the real path: a link works, a moved repository does not", async () => {
  await write(WITH_PROMPT);
  await symlink(repo, join(folder, "link"));
  await trust(join(folder, "link"), env);
  expect(await trustState(repo, env)).toMatchObject({ status: "trusted", root: repo });
  await rename(repo, join(folder, "moved"));
  expect(await trustState(join(folder, "moved"), env)).toMatchObject({ status: "untrusted", changed: [] });
});

it("stores trust in a file that only its owner can read, and leaves no temporary file", async () => {
  await write(WITH_PROMPT);
  await trust(repo, env);
  const other = join(folder, "other");
  await mkdir(join(other, ".git"), { recursive: true });
  await writeFile(join(other, ".git", "HEAD"), "");
  await writeFile(join(other, ".mcp.json"), "{}");
  await trust(other, env);
  expect(await readdir(join(folder, "state"))).toEqual(["trust.json"]);
  expect((await stat(join(folder, "state/trust.json"))).mode & 0o777).toBe(0o600);
  expect(await trustState(repo, env)).toMatchObject({ status: "trusted" });
});

it.each(["{", "[]", `{"version":2,"repositories":{}}`, `{"version":1,"repositories":{"/x":true}}`])(
  "rejects a trust file that contains %s, and names the fix",
  async (text) => {
    await write(WITH_PROMPT);
    await mkdir(join(folder, "state"));
    await writeFile(join(folder, "state/trust.json"), text);
    const refusal = { code: "config_invalid", message: expect.stringContaining("delete it") };
    await expect(trustState(repo, env)).rejects.toMatchObject(refusal);
    await expect(trust(repo, env)).rejects.toMatchObject(refusal);
  },
);

it.each([
  ["never trusted", "/a/b", [], "/a/b is not trusted yet: it contains rookery.toml, x.md", "rookery trust /a/b"],
  ["changed", "/a/b", ["x.md"], "/a/b was trusted, but x.md changed since", "rookery trust /a/b"],
  ["in a directory with a space", "/a b", [], "is not trusted", "rookery trust '/a b'"],
])("rejects a repository %s with the command to run", (_, root, changed, what, command) => {
  const attempt = () => requireTrust({ status: "untrusted", root, files: ["rookery.toml", "x.md"], changed });
  expect(attempt).toThrow(expect.objectContaining({ code: "not_trusted" }));
  expect(attempt).toThrow(what);
  expect(attempt).toThrow(command);
});

/** Creates a task's worktree like git. */
async function writeWorktree(files: Record<string, string>): Promise<string> {
  const worktree = join(repo, ".rookery/worktrees/fix");
  await mkdir(worktree, { recursive: true });
  await writeFile(join(worktree, ".git"), `gitdir: ${join(repo, ".git/worktrees/fix")}`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(worktree, path)), { recursive: true });
    await writeFile(join(worktree, path), text);
  }
  return worktree;
}

it("uses the repository's configuration in the worktree of a task, regardless of its branch", async () => {
  await write({ "rookery.toml": `[defaults]\nagent = "claude"` });
  await trust(repo, env);
  const worktree = await writeWorktree({ "rookery.toml": `[defaults]\nagent = "codex"` });
  expect(await trustState(worktree, env)).toMatchObject({ status: "trusted", root: repo });
  expect((await loadConfig({ cwd: worktree, env })).defaults.agent).toBe("claude");
});

it("does not restart an agent that changed its program's files in its worktree until they are trusted", async () => {
  await write({ ".claude/settings.json": "{}" });
  await trust(repo, env);
  const worktree = await writeWorktree({ ".claude/settings.json": "{}" });
  const program = { family: "claude", local: false } as const;
  await (await loadConfig({ cwd: worktree, env })).requireTrustFor(program);
  await writeFile(join(worktree, ".claude/settings.json"), `{"hooks":{}}`);
  await expect((await loadConfig({ cwd: worktree, env })).requireTrustFor(program)).rejects.toMatchObject({
    code: "not_trusted",
    message: expect.stringContaining(worktree) as unknown,
  });
  await trust(worktree, env);
  await (await loadConfig({ cwd: worktree, env })).requireTrustFor(program);
  expect(await trustState(repo, env)).toMatchObject({ status: "trusted" });
});

it("copies trust to a mirror only for files with the same content", async () => {
  await write({ "rookery.toml": "[defaults]\nmax_running = 1\n", ".mcp.json": "{}" });
  await trust(repo, env);
  const trusted = repo;
  repo = join(folder, "mirror");
  await write({
    ".git/HEAD": "",
    "rookery.toml": "[defaults]\nmax_running = 1\n",
    ".mcp.json": '{ "mcpServers": {} }',
  });
  await copyTrust(trusted, repo, env);
  expect(await trustState(repo, env)).toMatchObject({ status: "untrusted", changed: [".mcp.json"] });
  await write({ ".mcp.json": "{}" });
  await copyTrust(trusted, repo, env);
  expect(await trustState(repo, env)).toMatchObject({ status: "trusted" });
});
