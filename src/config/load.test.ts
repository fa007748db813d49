import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_CONFIG_FILE_BYTES } from "./files.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { type Config, loadConfig, resolveAgent } from "./load.ts";
import { trust } from "./trust.ts";

const BUILT_IN = ["anthropic", "claude", "codex", "gemini", "opencode", "openai", "google"];

let folder: string;
let repo: string;
let env: EnvironmentVariables;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "rookery-config-")));
  repo = join(folder, "repo");
  env = { HOME: folder, ROOKERY_HOME: join(folder, "state") };
  await write("repo/.git/HEAD", "");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function load(cwd = repo): Promise<Config> {
  return loadConfig({ cwd, env, trust: "assume" });
}

it("has an agent without any configuration", async () => {
  const config = await load();
  expect(resolveAgent(config)).toMatchObject({
    name: "anthropic",
    backend: "api",
    model: "anthropic/claude-sonnet-5",
    prompts: [],
    builtIn: true,
  });
  expect(config).toMatchObject({ root: repo, files: [], trust: { status: "nothing_to_trust" } });
});

describe("the default agent", () => {
  const user = `[defaults]\nagent = "mine"\n[agents.mine]`;
  it.each([
    ["is the repository's default", `[defaults]\nagent = "b"\n[agents.a]\n[agents.b]`, user, "b"],
    ["is otherwise the user's default", `[agents.a]`, user, "mine"],
    ["is otherwise the repository's first agent", `[agents.z]\n[agents.a]`, `[agents.mine]`, "z"],
    ["is otherwise the user's first agent", `[worktree]`, `[agents.mine]\n[agents.a]`, "mine"],
    ["is otherwise the built-in agent", `[worktree]`, `[worktree]`, "anthropic"],
  ])("%s", async (_, ofRepository, ofUser, expected) => {
    await write("repo/rookery.toml", ofRepository);
    await write(".config/rookery/rookery.toml", ofUser);
    expect(resolveAgent(await load()).name).toBe(expected);
  });
});

it("overrides the user's keys with the repository's, per agent and key", async () => {
  await write(".config/rookery/ask.md", "be kind");
  await write(
    ".config/rookery/rookery.toml",
    `[agents.x]\nmodel = "anthropic/a"\npermissions = "ask"\nprompts = ["ask.md"]\n[agents.own]\n` +
      `[prices."a/b"]\ninput = 1\noutput = 2\n[prices."c/d"]\ninput = 3\noutput = 4\n[worktree]\ncopy = [".env"]`,
  );
  await write(
    "repo/rookery.toml",
    `[agents.x]\nmodel = "anthropic/b"\nbase_url = "http://127.0.0.1:1"\ntools = { deny = ["bash"] }\n` +
      `[prices."a/b"]\ninput = 5\noutput = 6\ncache_read = 0.5\n[worktree]\nsetup = "npm ci"`,
  );
  const config = await load();
  expect(resolveAgent(config, "x")).toMatchObject({
    name: "x",
    backend: "api",
    model: "anthropic/b",
    permissions: "ask",
    prompts: ["be kind"],
    command: undefined,
    tools: { allow: undefined, deny: ["bash"] },
    mcp: undefined,
    baseUrl: "http://127.0.0.1:1",
    registry: undefined,
    env: {},
    auth: undefined,
    serve: [],
    builtIn: false,
  });
  expect([...config.agents.keys()]).toEqual(["x", "own", ...BUILT_IN]);
  expect(config.prices.get("a/b")).toEqual({ input: 5, output: 6, cacheRead: 0.5, cacheWrite: undefined });
  expect(config.prices.get("c/d")?.input).toBe(3);
  expect(config.worktree).toMatchObject({ setup: "npm ci", copy: [".env"], branchPrefix: "rookery/", port: true });
  expect(config.files).toEqual([join(repo, "rookery.toml"), join(folder, ".config/rookery/rookery.toml")]);
});

it("merges providers key by key, and uses the repository's only if it is trusted", async () => {
  await write(
    ".config/rookery/rookery.toml",
    `[providers.mine]\nkey_env = "MY_KEY"\ncontext = 1000\n[agents.x]\nmodel = "mine/m"\neffort = "high"\ncontext = 500`,
  );
  await write("repo/rookery.toml", `[providers.mine]\nbase_url = "http://127.0.0.1:1"\nimages = false`);
  const config = await load();
  expect(config.providers.get("mine")).toEqual({
    kind: undefined,
    baseUrl: "http://127.0.0.1:1",
    keyEnv: "MY_KEY",
    headers: {},
    context: 1000,
    images: false,
  });
  expect(resolveAgent(config, "x")).toMatchObject({ effort: "high", context: 500 });
  await write("repo/rookery.toml", `[providers.mine]\nbase_url = "http://127.0.0.1:2"`);
  await expect(loadConfig({ cwd: repo, env })).rejects.toMatchObject({ code: "not_trusted" });
  const { providers } = await loadConfig({ cwd: repo, env, trust: "leave_out" });
  expect(providers.get("mine")?.baseUrl).toBeUndefined();
});

it("merges a configured agent with the built-in one of the same name", async () => {
  await write("repo/rookery.toml", `[agents.anthropic]\npermissions = "read"`);
  expect(resolveAgent(await load())).toMatchObject({
    model: "anthropic/claude-sonnet-5",
    permissions: "read",
    builtIn: false,
  });
});

it("resolves additional directories relative to the file that names them", async () => {
  await write("repo/rookery.toml", `[agents.x]\nfolders = ["../lib", "/opt"]`);
  expect(resolveAgent(await load(), "x").folders).toEqual([join(repo, "../lib"), "/opt"]);
  expect(resolveAgent(await load(), "anthropic").folders).toEqual([]);
});

it("reads prompt files in order, relative to the file that names them", async () => {
  await write("repo/rookery.toml", `[agents.x]\nprompts = ["b.md", "docs/a.md"]`);
  await write("repo/b.md", "first");
  await write("repo/docs/a.md", "second");
  await mkdir(join(repo, "deep/down"), { recursive: true });
  expect(resolveAgent(await load(join(repo, "deep/down")), "x").prompts).toEqual(["first", "second"]);
});

it.each([
  ["is missing", `prompts = ["gone.md"]`, "the prompt file gone.md does not exist"],
  ["is a directory", `prompts = [".git"]`, "is not a file"],
  ["is too large", `prompts = ["large.md"]`, `at most ${MAX_CONFIG_FILE_BYTES}`],
  ["is not text", `prompts = ["binary"]`, "is not UTF-8 text"],
  ["is outside", `prompts = ["../secret"]`, "the prompt file ../secret is outside of the repository"],
  ["links outside", `prompts = ["link"]`, "the prompt file link is outside of the repository"],
])("names a prompt file of a repository that %s", async (_, line, expected) => {
  await write("repo/rookery.toml", `[agents.x]\n${line}`);
  await write("repo/large.md", Buffer.alloc(MAX_CONFIG_FILE_BYTES + 1));
  await write("repo/binary", Buffer.from([0xff, 0xfe]));
  await write("secret", "s");
  await symlink(join(folder, "secret"), join(repo, "link"));
  await expect(load()).rejects.toMatchObject({ code: "config_invalid", message: expect.stringContaining(expected) });
});

it.each([
  ["a similar name", "revewer", `there is no agent "revewer" (did you mean reviewer?)`],
  ["an unrelated name", "qqqqqqqqq", `there is no agent "qqqqqqqqq";`],
])("suggests known agents for an unknown one: %s", async (_, name, expected) => {
  await write("repo/rookery.toml", `[agents.reviewer]`);
  const config = await load();
  expect(() => resolveAgent(config, name)).toThrow(expect.objectContaining({ code: "agent_unknown" }));
  expect(() => resolveAgent(config, name)).toThrow(expected);
  expect(() => resolveAgent(config, name)).toThrow("rookery agents");
});

it("requires a command for an ACP agent", async () => {
  await write("repo/rookery.toml", `[agents.x]\nbackend = "acp"`);
  await expect(load()).rejects.toThrow(/rookery\.toml: agents\.x: the backend "acp" needs a program; add command = /);
});

it.each([
  ["the parent with .git", "repo/src/deep", "repo"],
  ["the directory of a worktree, whose .git is a file", "tree/src", "tree"],
  ["the directory itself if there is no repository", "plain/src", "plain/src"],
  ["no directory with an empty .git", "hollow/src", "hollow/src"],
])("uses as root %s", async (_, cwd, root) => {
  await write("tree/.git", "gitdir: elsewhere");
  await mkdir(join(folder, "hollow/.git"), { recursive: true });
  await mkdir(join(folder, cwd), { recursive: true });
  expect((await load(join(folder, cwd))).root).toBe(join(folder, root));
});

it.each([
  ["does not exist", "nowhere"],
  ["is a file", "file"],
])("rejects a working directory that %s", async (_, cwd) => {
  await write("file", "");
  await expect(load(join(folder, cwd))).rejects.toMatchObject({ code: "cwd_missing" });
});

it("rejects, ignores or only checks an untrusted repository", async () => {
  await write("repo/rookery.toml", `[agents.theirs]`);
  await write(".config/rookery/rookery.toml", `[agents.mine]`);
  await expect(loadConfig({ cwd: repo, env })).rejects.toMatchObject({ code: "not_trusted" });
  expect([...(await loadConfig({ cwd: repo, env, trust: "leave_out" })).agents.keys()]).toEqual(["mine", ...BUILT_IN]);
  expect((await load()).agents.has("theirs")).toBe(true);

  await trust(repo, env);
  expect((await loadConfig({ cwd: repo, env })).agents.has("theirs")).toBe(true);
  expect((await loadConfig({ cwd: repo, env, trust: "leave_out" })).agents.has("theirs")).toBe(true);
});

it("reports an invalid file before it asks for trust", async () => {
  await write("repo/rookery.toml", `[agnts]`);
  await expect(loadConfig({ cwd: repo, env })).rejects.toMatchObject({ code: "config_invalid" });
});

describe("rejects a special file without blocking", () => {
  const TOML = `[agents.x]\nprompts = ["AGENTS.md"]`;
  it.each(["rookery.toml", ".mcp.json", "AGENTS.md"])("in place of %s", async (name) => {
    await write("repo/rookery.toml", TOML);
    await rm(join(repo, name), { force: true });
    execFileSync("mkfifo", [join(repo, name)]);
    await expect(load()).rejects.toThrow(`${join(repo, name)} is not a file`);

    await rm(join(repo, name));
    await symlink("/dev/zero", join(repo, name));
    await expect(load()).rejects.toThrow(`${join(repo, name)} is not a file`);
  });

  it.skipIf(!existsSync("/proc/kallsyms"))("if it is endless and reports no size", async () => {
    await symlink("/proc/kallsyms", join(repo, ".mcp.json"));
    await expect(load()).rejects.toThrow(/\.mcp\.json is too large: at most \d+ bytes/);
  });
});

it.each(["constructor", "toString", "hasOwnProperty"])("accepts %s as the name of an agent", async (name) => {
  await write("repo/rookery.toml", `[agents.other]`);
  await write(".config/rookery/rookery.toml", `[agents.${name}]\nbackend = "acp"`);
  await expect(load()).rejects.toThrow(
    `${join(folder, ".config/rookery/rookery.toml")}: agents.${name}: the backend "acp" needs a program`,
  );
  await write(".config/rookery/rookery.toml", `[agents.${name}]`);
  const config = await load();
  expect(resolveAgent(config, name)).toMatchObject({ name, backend: "api", model: undefined, builtIn: false });
  expect(() => resolveAgent(config, "valueOf")).toThrow('no agent "valueOf"');
});

it.each(["agents", "prices", "mcp"])("rejects __proto__ as a name in [%s]", async (table) => {
  await write("repo/rookery.toml", `[${table}.__proto__]\ninput = 1\noutput = 1`);
  await expect(load()).rejects.toThrow(`${table}.__proto__: this name cannot be used`);
});

describe("MCP servers", () => {
  const JSON_FILE = JSON.stringify({ mcpServers: { both: { command: "json" }, json: { command: "json", odd: 1 } } });

  async function writeAll(): Promise<void> {
    await write("repo/rookery.toml", `[mcp.both]\ncommand = ["repo"]\n[mcp.shared]\nurl = "https://repo.invalid/"`);
    await write("repo/.mcp.json", JSON_FILE);
    await write(
      ".config/rookery/rookery.toml",
      `[mcp.shared]\nurl = "https://user.invalid/"\nheaders = { Authorization = "s3cret" }\n` +
        `[mcp.json]\ncommand = ["user"]\n[mcp.own]\ncommand = ["user"]\nenabled = false`,
    );
  }

  it("come from the repository before the user, each from one file", async () => {
    await writeAll();
    const { mcp, files } = await load();
    const toml = join(repo, "rookery.toml");
    const json = join(repo, ".mcp.json");
    const user = join(folder, ".config/rookery/rookery.toml");
    expect([...mcp.values()]).toEqual([
      { name: "both", source: "rookery.toml", file: toml, table: { command: ["repo"] } },
      { name: "shared", source: "rookery.toml", file: toml, table: { url: "https://repo.invalid/" } },
      { name: "json", source: ".mcp.json", file: json, entry: { command: "json", odd: 1 } },
      { name: "own", source: "user", file: user, table: { command: ["user"], enabled: false } },
    ]);
    expect([...mcp.keys()]).toEqual(["both", "shared", "json", "own"]);
    expect(files).toEqual([toml, user]);
  });

  it("of an untrusted repository are ignored", async () => {
    await writeAll();
    const { mcp } = await loadConfig({ cwd: repo, env, trust: "leave_out" });
    expect(Array.from(mcp.values(), ({ name, source }) => `${source} ${name}`)).toEqual([
      "user shared",
      "user json",
      "user own",
    ]);
  });

  it("are none if .mcp.json has no mcpServers", async () => {
    await write("repo/.mcp.json", `{"inputs":[]}`);
    expect((await load()).mcp.size).toBe(0);
  });

  it.each([
    ["{", "not valid JSON"],
    [`{"mcpServers":[]}`, "mcpServers: expected an object"],
    [`{"mcpServers":{"a":"npx a"}}`, "mcpServers.a: expected an object"],
  ])("in an invalid .mcp.json are an error: %s", async (text, expected) => {
    await write("repo/.mcp.json", text);
    await expect(load()).rejects.toMatchObject({ code: "config_invalid", message: expect.stringContaining(expected) });
    await expect(load()).rejects.toThrow(join(repo, ".mcp.json"));
  });

  it("are selected by an agent by name", async () => {
    await writeAll();
    await write("repo/rookery.toml", `[agents.some]\nmcp = ["json", "own"]\n[agents.all]\n[agents.none]\nmcp = []`);
    const config = await load();
    const chosen = ["some", "all", "none"].map((name) => resolveAgent(config, name).mcp);
    expect(chosen).toEqual([["json", "own"], undefined, []]);
  });

  it("that are not declared are an error if an agent names them", async () => {
    await write("repo/.mcp.json", JSON_FILE);
    await write("repo/rookery.toml", `[agents.x]\nmcp = ["json", "bth"]`);
    await expect(load()).rejects.toMatchObject({
      code: "config_invalid",
      message: `${join(repo, "rookery.toml")}: agents.x.mcp: there is no MCP server "bth" (did you mean both?); declare it as [mcp.bth]`,
    });
  });

  it("may be named by a user's agent if an untrusted repository declares them", async () => {
    await write("repo/.mcp.json", JSON_FILE);
    await write(".config/rookery/rookery.toml", `[agents.x]\nmcp = ["json"]`);
    const config = await loadConfig({ cwd: repo, env, trust: "leave_out" });
    expect(resolveAgent(config, "x").mcp).toEqual(["json"]);
    expect(config.mcp.size).toBe(0);
  });
});

it("selects tools by name and by their hints", async () => {
  await write("repo/rookery.toml", `[agents.x]\ntools = { allow = ["fs__*", { readOnly = true }] }`);
  expect(resolveAgent(await load(), "x").tools).toEqual({ allow: ["fs__*", { readOnly: true }], deny: [] });
});

it.each([
  ["nothing", "", undefined],
  ["a size", "[tools]\ndefer_over = 20000", 20_000],
  ["always", "[tools]\ndefer_over = 0", 0],
  ["never", "[tools]\ndefer_over = false", Infinity],
])("reads the size above which tools are deferred: %s", async (_, text, expected) => {
  await write("repo/rookery.toml", text);
  await write(".config/rookery/rookery.toml", text);
  expect((await load()).tools.deferOver).toBe(expected);
});
