import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRookeryError } from "../domain/index.ts";
import { Random } from "../programs/test-fuzz.ts";
import { mutateLine } from "../programs/test-mutations.ts";
import { builtEnvironment, temporaryFolder } from "../testing/index.ts";
import { loadConfig, trust } from "./index.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 2_000 : 100;
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

const TOML = `
[defaults]
agent = "claude"
max_running = 4

[agents.claude]
backend = "claude-code"
permissions = "ask"
prompts = ["AGENTS.md"]

[agents.reviewer]
backend = "api"
model = "anthropic/claude-sonnet-4-5"
tools = { allow = ["fs__*"], deny = ["fs__write"] }
env = { A = "b" }

[worktree]
setup = "npm ci"
copy = [".env"]

[pipelines]
ship = [{ agent = "claude" }, { command = "npm test", name = "check", back_to = "claude" }]

[mcp.files]
command = "npx"
args = ["-y", "server"]
`;

const MCP = JSON.stringify({
  mcpServers: {
    files: { command: "npx", args: ["-y", "server"], env: { A: "\${HOME}" } },
    web: { type: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer \${TOKEN}" } },
  },
});

it(
  "loads a mutated configuration file or rejects with an error that names it",
  async () => {
    await using folder = await temporaryFolder();
    const env = builtEnvironment({ home: join(folder.path, "home") });
    const problems: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed += 1) {
      const cwd = join(folder.path, `case-${seed}`);
      await mkdir(join(cwd, ".git", "refs"), { recursive: true });
      await mkdir(join(cwd, ".git", "objects"), { recursive: true });
      await writeFile(join(cwd, ".git", "HEAD"), "ref: refs/heads/main\n");
      await writeFile(join(cwd, "AGENTS.md"), "Be kind.");
      const random = new Random(seed);
      const isToml = random.chance(0.6);
      const toml = isToml ? mutateToml(random) : TOML;
      await writeFile(join(cwd, "rookery.toml"), toml);
      await writeFile(join(cwd, ".mcp.json"), isToml ? MCP : mutateLine(random, MCP));
      for (const attempt of [
        () => trust(cwd, env),
        () => loadConfig({ cwd, env, trust: "leave_out" }),
        () => loadConfig({ cwd, env }),
      ]) {
        try {
          await attempt();
        } catch (error) {
          const isExpected = isRookeryError(error, "config_invalid") || isRookeryError(error, "not_trusted");
          if (!isExpected) problems.push(`seed ${seed}: ${String(error)}`);
        }
      }
    }
    expect(problems).toEqual([]);
  },
  isWhole ? 1_200_000 : 60_000,
);

/** Changes, drops, duplicates or deeply nests a line. */
function mutateToml(random: Random): string {
  const lines = TOML.split("\n");
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(lines.length);
    const line = lines[at] ?? "";
    const [, key = "a", value = "1"] = /^(\S+) = (.*)$/.exec(line) ?? [];
    lines[at] = random.pick(
      mutateLine(random, line),
      `${key} = ${JSON.stringify(random.value(2))}`,
      `${key} = ${"[".repeat(5_000)}${"]".repeat(5_000)}`,
      `${Array.from({ length: 2_000 }, () => "a").join(".")} = 1`,
      `${key} = ${value}\n${line}`,
      `[${random.text(8)}]`,
      `${key} = ${random.pick("nan", "inf", "1e999", "0x", "2026-01-01", "''''''", '"\\u0000"', "-0")}`,
    );
  }
  return lines.join("\n");
}
