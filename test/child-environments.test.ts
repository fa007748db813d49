import { readdirSync, readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findPrograms } from "../src/backends/installed/index.ts";
import { openPager } from "../src/cli/diff/pager.ts";
import { openBrowser } from "../src/cli/open-browser.ts";
import { openOwnedPrograms } from "../src/cli/acp/owned-programs.ts";
import type { Io } from "../src/cli/io.ts";
import { loadConfig, trust, userConfigFile } from "../src/config/index.ts";
import { startAgent } from "../src/programs/index.ts";
import { Rookery } from "../src/rookery.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import {
  builtEnvironment,
  call,
  say,
  startModelServer,
  temporaryFolder,
  temporaryRepository,
  writeAcpAgent,
} from "../src/testing/index.ts";

/** Secrets of providers and of Rookery, and one with an unremarkable name that only the configuration mentions. */
const SECRETS = [
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY"],
  ...["OPENAI_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_API_KEY", "AZURE_OPENAI_AD_TOKEN"],
  ...["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
  ...["CEREBRAS_API_KEY", "DEEPSEEK_API_KEY", "FIREWORKS_API_KEY", "GROQ_API_KEY", "HF_TOKEN", "MISTRAL_API_KEY"],
  ...["MOONSHOT_API_KEY", "OPENROUTER_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY", "ZAI_API_KEY", "COHERE_KEY"],
  ...["LITELLM_MASTER_KEY", "WATSONX_APIKEY", "AI_GATEWAY_KEY", "DATABRICKS_TOKEN", "GITHUB_MODELS_TOKEN"],
  ...["ROOKERY_TOKEN", "ROOKERY_MCP_0_TOKEN", "ROOKERY_MCP_BRIDGE", "NAMED_BY_CONFIGURATION"],
  ...["ROOKERY_STORE_URL", "ROOKERY_STORE_LISTEN_URL", "ROOKERY_STORE_PASSWORD", "ROOKERY_BLOBS_SESSION_TOKEN"],
  ...["ROOKERY_BLOBS_URL", "ROOKERY_BLOBS_ACCESS_KEY_ID", "ROOKERY_BLOBS_SECRET_ACCESS_KEY"],
  ...["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"],
  ...["OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS"],
];
/** General variables that are Rookery's own secrets if the configured store and blobs use them. */
const SHARED_SECRETS = ["PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
const OF_CLAUDE = SECRETS.slice(0, 4);
const OF_CODEX = SECRETS.slice(4, 8);
const OF_GEMINI = SECRETS.slice(8, 11);
const OF_ANYBODY = SECRETS.filter((name) => !name.startsWith("ROOKERY_") && !name.startsWith("OTEL_"));
/** What Claude Code sets for its children, and an editor for Claude Code. No child gets them. */
const OUTER_CLAUDE = [
  ...["CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_ID"],
  ...["CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_SSE_PORT"],
  "CLAUDE_CODE_BRIDGE_SESSION_ID",
];
const COLORS = ["FORCE_COLOR", "CLICOLOR_FORCE"];
/** Variables that builds need. Every child gets them. */
const BUILDS = ["NPM_TOKEN", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"];

const owned = new DisposeStack();
let out: string;

/** Each started program writes its environment to a file with the given name. */
beforeAll(async () => {
  const folder = owned.use(await temporaryFolder());
  const repository = owned.use(await temporaryRepository({ "README.md": "hello\n" }));
  out = join(folder.path, "out");
  const bin = join(folder.path, "bin");
  await mkdir(out);
  await mkdir(bin);
  const program = async (name: string, lines: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\n${lines}\n`);
    await chmod(join(bin, name), 0o755);
  };
  const dump = (name: string) =>
    `env > "${out}/.${name}.$$" && mv "${out}/.${name}.$$" "${out}/\${DUMP_PREFIX}${name}.$$"`;
  const path = process.env["PATH"] ?? "/usr/bin:/bin";
  await program("dump", dump("$1"));
  await program("git", `${dump("git")}\nPATH="${path}" exec git "$@"`);
  await program("xdg-open", dump("browser"));
  await program("opencode", `${dump("version")}\necho 1.2.3`);

  const model = owned.use(
    await startModelServer([
      call("bash", { command: "dump bash" }),
      call("bash", { command: "dump background", background: true }),
      // Waits for the background command to write its file, because the session ends it.
      call("bash", { command: `until ls "${out}"/background.* > /dev/null 2>&1; do sleep 0.05; done` }),
      say("done"),
    ]),
  );
  const set = [...SECRETS, ...OUTER_CLAUDE, ...COLORS, ...BUILDS];
  const secrets = Object.fromEntries(set.map((name) => [name, `value-of-${name}`]));
  const extra = { ...secrets, PATH: `${bin}:${path}`, ANTHROPIC_BASE_URL: model.url, GIT_CONFIG_GLOBAL: "/dev/null" };
  const env = builtEnvironment({ home: folder.path, extra });
  const acp = await writeAcpAgent(folder.path, {
    prompts: [[{ terminal: { command: "dump", args: ["terminal"], then: ["wait_for_exit"] } }]],
  });
  const dumping = (name: string) => JSON.stringify([join(bin, "dump"), name]);
  const agent = (name: string, backend: string) =>
    `[agents.${name}]\nbackend = "${backend}"\ncommand = ${dumping(name)}\nmcp = []\n`;
  const programs = ["claude-code", "codex", "gemini-cli", "opencode", "acp", "command"];
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(
    userConfigFile(env),
    `
[agents.builtin]
model = "anthropic/claude-sonnet-5"
permissions = "all"
[agents.terminals]
backend = "acp"
command = ${JSON.stringify(acp.command)}
serve = ["terminals"]
permissions = "all"
mcp = []
${programs.map((backend) => agent(backend, backend)).join("")}
[agents.found]
backend = "opencode"
[agents.worker]
backend = "command"
command = ["touch", "made.txt"]
mcp = []
[agents.passing]
backend = "command"
command = ${dumping("passing")}
pass_env = ["DATABRICKS_TOKEN", "FORCE_COLOR", "CLAUDECODE"]
mcp = []
[mcp.dumping]
command = ${dumping("mcp")}
[providers.mine]
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
key_env = "NAMED_BY_CONFIGURATION"
[worktree]
setup = "dump setup"
pass_env = ["COHERE_KEY"]
[pipelines.p]
stages = [{ agent = "worker" }, { run = "dump stage" }, { merge = "merge", gate = "dump gate" }]
`,
  );
  await trust(repository.path, env);

  const first = env["ROOKERY_HOME"] ?? "";
  await mkdir(first, { recursive: true });
  await copyFile(userConfigFile(env), join(first, "rookery.toml"));
  const rookery = owned.use(await Rookery.open({ env, home: first, cwd: repository.path }));
  const sessions = ["builtin", "terminals", ...programs, "passing"].map(async (name) => {
    await using session = await rookery.openSession({ agent: name });
    await session.prompt("go").outcome;
  });
  await Promise.allSettled(sessions); // a program that only prints its environment is not an agent, so its session fails
  await rookery.tasks.start({ id: "t", prompt: "go", pipeline: "p" });
  await rookery.runTasks({ only: "t", signal: AbortSignal.timeout(50_000) });
  const { agents } = await loadConfig({ cwd: repository.path, env });
  const known = [...agents.values()].filter(({ name }) => name === "found");
  await findPrograms(known, {
    env,
    cwd: repository.path,
    cacheFolder: join(folder.path, "cache"),
    keys: ["NAMED_BY_CONFIGURATION"],
  });
  await startCommandChildren(env, repository.path);

  const shared = Object.fromEntries([...SHARED_SECRETS, ...BUILDS].map((name) => [name, `value-of-${name}`]));
  const sharedExtra = { ...shared, PATH: extra.PATH, GIT_CONFIG_GLOBAL: "/dev/null", DUMP_PREFIX: "shared-" };
  const sharedEnv = builtEnvironment({ home: folder.path, extra: sharedExtra });
  const sharedConfig = `${await readFile(userConfigFile(env), "utf8")}
[store]
url = "postgres://rookery@127.0.0.1:9/none"
[blobs]
url = "s3://bucket"
`;
  const home = join(folder.path, "other");
  await mkdir(home);
  for (const file of [userConfigFile(env), join(home, "rookery.toml")]) await writeFile(file, sharedConfig);
  await trust(repository.path, { ...sharedEnv, ROOKERY_HOME: home });
  const other = owned.use(await Rookery.open({ env: sharedEnv, home, cwd: repository.path }));
  await other.openSession({ agent: "acp" }).catch(() => undefined); // its program is not an agent
  await startCommandChildren(sharedEnv, repository.path);
}, 60_000);

/** Starts the children of commands that use no Rookery of the library: a component, a pager and a browser. */
async function startCommandChildren(env: Io["env"], cwd: string): Promise<void> {
  const terminal = { isTTY: true };
  const person = { ...env, PAGER: "dump pager", DISPLAY: ":0", CI: undefined, SSH_CONNECTION: undefined };
  const io = { env: person, cwd: () => cwd, terminalInput: terminal, stderr: process.stderr };
  await using owners = await openOwnedPrograms(io as unknown as Io);
  await using component = await startAgent(owners.command(["dump", "component"]));
  await component.exit();
  await openPager(io, "text", AbortSignal.timeout(10_000));
  await openBrowser({ ...io, stderr: terminal } as unknown as Io, "http://127.0.0.1:9/");
}

afterAll(() => owned[Symbol.asyncDispose]());

async function arrived(child: string, names: readonly string[]): Promise<string[]> {
  const lines = (await environments(child)).flat();
  return names.filter((name) => lines.includes(`${name}=value-of-${name}`));
}

/** The environments of the processes of this kind, as lines. */
async function environments(child: string): Promise<string[][]> {
  const list = async () => (await readdir(out)).filter((file) => file.startsWith(`${child}.`));
  // Nobody waits for the browser.
  await expect.poll(list, { timeout: 5_000, message: `${child} was not started` }).not.toEqual([]);
  const files = await list();
  const texts = await Promise.all(files.map((file) => readFile(join(out, file), "utf8")));
  return texts.map((text) => text.split("\n"));
}

it.each<[child: string, secrets: readonly string[]]>([
  ["bash", []],
  ["background", []],
  ["terminal", []],
  ["mcp", []],
  ["command", []],
  ["git", []],
  ["version", []],
  ["pager", ["NAMED_BY_CONFIGURATION"]],
  ["browser", ["NAMED_BY_CONFIGURATION"]],
  ["stage", ["COHERE_KEY"]],
  ["setup", ["COHERE_KEY"]],
  ["gate", ["COHERE_KEY"]],
  ["passing", ["DATABRICKS_TOKEN"]],
  ["claude-code", OF_CLAUDE],
  ["codex", OF_CODEX],
  ["gemini-cli", OF_GEMINI],
  ["opencode", OF_ANYBODY],
  ["acp", OF_ANYBODY],
  ["component", OF_ANYBODY],
])("passes %s only the secrets %j and the build variables", async (child, secrets) => {
  expect((await arrived(child, SECRETS)).sort()).toEqual([...secrets].sort());
  expect(await arrived(child, BUILDS)).toEqual(BUILDS);
  expect(await arrived(child, OUTER_CLAUDE)).toEqual([]);
});

const PROGRAMS = ["claude-code", "codex", "gemini-cli", "opencode", "acp", "command", "component", "version"];

it.each(PROGRAMS)("starts the program %s without colors", async (child) => {
  expect(await arrived(child, COLORS)).toEqual([]);
  for (const lines of await environments(child)) expect(lines).toContain("NO_COLOR=1");
});

it("leaves the colors of a program alone if its agent passes a variable about them, and of other children", async () => {
  expect(await arrived("passing", COLORS)).toEqual(COLORS);
  expect(await arrived("setup", COLORS)).toEqual(COLORS);
  for (const lines of await environments("passing")) expect(lines).not.toContain("NO_COLOR=1");
});

it.each(["acp", "component", "pager", "browser"])(
  "withholds from %s the general credentials that the configured store and blobs use",
  async (child) => {
    expect(await arrived(`shared-${child}`, SHARED_SECRETS)).toEqual([]);
    expect(await arrived(`shared-${child}`, BUILDS)).toEqual(BUILDS);
  },
);

/** Files that start processes with an environment from `childEnvironment`, or with a smaller one. */
const STARTS_PROCESSES = [
  "acp/auth/terminal.ts",
  "cli/config/config.ts",
  "cli/demo/demo.ts",
  "cli/diff/pager.ts",
  "cli/doctor/checks.ts",
  "cli/open-browser.ts",
  "stdx/process/group.ts",
  "stdx/process/identity.ts",
  "stdx/process/limit-tag.ts", // tries a program of the system, with an empty environment
  "stdx/process/marker.ts",
  "stdx/process/pid-scope.ts", // runs system programs only
];

it("lists every file that starts processes, so that a new one is added to this test", () => {
  const src = fileURLToPath(new URL("../src/", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|(^|\/)(test-|testing\/|fixtures\/)/.test(file))
    .filter((file) => /from "node:(child_process|cluster)"/.test(readFileSync(join(src, file), "utf8")))
    .map((file) => relative(src, join(src, file)));
  expect(files.sort()).toEqual(STARTS_PROCESSES);
});

it("lets no command use childEnvironment, which does not know the configuration", () => {
  const cli = fileURLToPath(new URL("../src/cli/", import.meta.url));
  const files = readdirSync(cli, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => /\bchildEnvironment\b/.test(readFileSync(join(cli, file), "utf8")));
  expect(files).toEqual([]);
});
