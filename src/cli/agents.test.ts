import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtEnvironment } from "../testing/environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../testing/repository.ts";
import { agentsCommand } from "./agents.ts";
import type { CommandAction } from "./command.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import type { Io } from "./io.ts";
import { withAgentSuggestions } from "./run/agent-suggestions.ts";
import { RookeryError } from "../domain/errors.ts";
import { welcomeCommand } from "./welcome.ts";

let folder: TemporaryFolder;
let env: Record<string, string>;
beforeEach(async () => {
  folder = await temporaryFolder();
  env = { ...builtEnvironment({ home: folder.path }), PATH: `${join(folder.path, "bin")}:/usr/bin:/bin` };
  await mkdir(join(folder.path, "bin"));
  await mkdir(join(folder.path, "work"));
});
afterEach(() => folder[Symbol.asyncDispose]());

async function install(program: string, script: string): Promise<void> {
  const file = join(folder.path, "bin", program);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

async function configure(toml: string): Promise<void> {
  await mkdir(join(folder.path, ".config/rookery"), { recursive: true });
  await writeFile(join(folder.path, ".config/rookery/rookery.toml"), toml);
}

/** Runs the command in this process with its own streams and environment. */
async function call(command: CommandAction, options: Record<string, boolean> = {}): Promise<string> {
  let printed = "";
  const output = () =>
    new Writable({
      write(chunk, _encoding, done) {
        printed += String(chunk);
        done();
      },
    });
  const io: Io = {
    env,
    version: "0.0.0",
    stdin: Readable.from([]),
    terminalInput: undefined,
    stdout: output(),
    stderr: output(),
    cwd: () => join(folder.path, "work"),
    onOutputClosed: new Set(),
    outputFailed: () => false,
  };
  await command({ io, args: [], options });
  return printed;
}

const rows = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/).filter((cell) => cell !== ""));

it("lists agents with their program, version and login, and what the others need", async () => {
  env["CLAUDE_CODE_OAUTH_TOKEN"] = "secret-token";
  await install("claude", "echo '2.1.325 (Claude Code)'");
  await install("codex", "echo codex-cli 0.170.0");
  await configure('[defaults]\nagent = "mine"\n[agents.mine]\nbackend = "command"\ncommand = ["no-such-thing"]\n');
  const text = await call(agentsCommand);
  const [table = "", notes = ""] = text.split("\n\n");
  expect(rows(table)).toEqual([
    ["agent", "kind", "model or program", "login", "state"],
    ["* mine", "command", "no-such-thing not found", "not ready"],
    ["anthropic", "api", "anthropic/claude-sonnet-5", "not ready"],
    ["claude", "claude-code", "2.1.325 on the PATH", "logged in", "ready"],
    ["codex", "codex", "0.170.0 (newer) on the PATH", "logged out", "not ready"],
    ["gemini", "gemini-cli", "gemini not found", "logged out", "not ready"],
    ["opencode", "opencode", "opencode not found", "logged out", "not ready"],
    ["openai", "api", "openai/gpt-6.1-sol", "not ready"],
    ["google", "api", "google/gemini-3.8-flash", "not ready"],
    ["* the default agent"],
  ]);
  expect(notes).toContain("mine: no-such-thing was not found: install it, or correct the command\n");
  expect(notes).toContain("anthropic: ANTHROPIC_API_KEY is not set: export ANTHROPIC_API_KEY=…\n");
  expect(notes).toContain("codex: logged out: codex login\n");
  expect(notes).toMatch(/codex: \S+bin\/codex is newer \(0\.170\.0\)\s+than the tested version \(0\.166\.0\)/);
  expect(notes).toContain("gemini: not found: npm install -g @google/gemini-cli@0.61.0\n");
  expect(notes).toContain('mine is the default agent but not ready; use a ready one: rookery run "…" --agent claude\n');
  expect(notes).toMatch(/\d+ known issues of these programs: rookery agents --issues\n/);
  expect(await call(agentsCommand, { issues: true })).toContain("known issue of claude 2.1.325: as root");
  expect(text).not.toContain("secret-token");
});

it.each([
  ["fails", "echo boom >&2; exit 3"],
  ["says something else", "echo hello"],
])("reports an unknown version if the program %s when asked for it", async (_, script) => {
  await install("codex", script);
  const file = join(folder.path, "bin/codex");
  const told = (await call(agentsCommand)).replaceAll(/\s+/g, " ");
  expect(told).toContain(`codex: ${file} does not print its version; check: ${file} --version`);
});

it("prints agents as JSON with everything that was found", async () => {
  await install("gemini", "echo 0.61.0");
  const { agents: told } = JSON.parse(await call(agentsCommand, { json: true })) as {
    agents: Record<string, unknown>[];
  };
  expect(told.find(({ name }) => name === "gemini")).toMatchObject({
    backend: "gemini-cli",
    ready: false,
    missing: expect.stringContaining("GEMINI_API_KEY") as string,
    program: {
      path: join(folder.path, "bin/gemini"),
      from: "path",
      version: "0.61.0",
      is: "tested",
      login: { state: "logged out" },
      known: [expect.any(String), expect.any(String)],
    },
  });
  expect(told.find(({ name }) => name === "anthropic")).toMatchObject({ isDefault: true, ready: false });
});

it("summarizes agents in rookery doctor, and names a ready one if a key is missing", async () => {
  env["GEMINI_API_KEY"] = "x";
  await install("gemini", "echo 0.61.0");
  const text = await call(doctorCommand);
  expect(text).toMatch(
    /agents +ready: gemini, google; claude not found, codex not found, gemini 0\.61\.0 \(logged in\), opencode not found\n/,
  );
  expect(text).toContain("export ANTHROPIC_API_KEY=…, or use --agent gemini\n");
});

it("suggests ready agents if the chosen one has no key", async () => {
  expect(await call(welcomeCommand)).toContain("none is ready");
  env["GEMINI_API_KEY"] = "x";
  await install("gemini", 'touch "$HOME/was-run"');
  expect(await call(welcomeCommand)).toContain('rookery run "Explain this repository"\n');
  const here = { env, cwd: join(folder.path, "work") };
  const fails = (code: "provider_unconfigured" | "provider_auth") => () =>
    Promise.reject(new RookeryError(code, "no key"));
  await expect(withAgentSuggestions(here, fails("provider_unconfigured"))).rejects.toThrow(
    "no key; or use a ready agent: --agent gemini",
  );
  await expect(withAgentSuggestions(here, fails("provider_auth"))).rejects.toThrow(/^no key$/);
});

it("suggests the demo if no agent is ready", async () => {
  expect(await call(agentsCommand)).toContain("No agent is ready. Try Rookery without one: rookery demo\n");
  env["ANTHROPIC_API_KEY"] = "fake";
  expect(await call(agentsCommand)).not.toContain("rookery demo");
});
