import { expect, it } from "vitest";
import { parseConfig } from "./parse.ts";

const DESIGN = `
[defaults]
agent = "claude"
max_running = 4
[agents.claude]
backend = "claude-code"
permissions = "ask"
[agents.reviewer]
backend = "api"
model = "anthropic/claude-sonnet-5"
prompts = ["AGENTS.md", "docs/review.md"]
tools = { allow = ["fs__*", "github__*"], deny = ["fs__write"] }
base_url = "http://127.0.0.1:8080/v1"
[agents.zedlike]
backend = "acp"
command = ["npx", "-y", "@agentclientprotocol/codex-acp"]
[worktree]
setup = "npm ci"
copy = [".env"]
[prices."anthropic/claude-sonnet-5"]
input = 3
output = 15.0
cache_read = 0.3
cache_write = 3.75
`;

it("everything that the documentation shows is understood", () => {
  const table = parseConfig(DESIGN, "rookery.toml");
  expect(Object.keys(table.agents ?? {})).toEqual(["claude", "reviewer", "zedlike"]);
  expect(table.prices).toEqual({
    "anthropic/claude-sonnet-5": { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
  });
});

it.each([
  ["an unknown table", `[agent.x]`, "unknown key agent (did you mean agents?)"],
  ["an unknown key", `[agents.x]\nmodle = "a/b"`, "unknown key agents.x.modle (did you mean model?)"],
  [
    "a key two levels down",
    `[agents.x]\ntools = { alow = [] }`,
    "unknown key agents.x.tools.alow (did you mean allow?)",
  ],
  ["a key like no other", `[defaults]\nzzz = 1`, "unknown key defaults.zzz; known here: agent, max_running"],
  [
    "a key of a price",
    `[prices."a/b"]\ninput = 1\noutput = 1\ncache_raed = 1`,
    `prices."a/b".cache_raed (did you mean cache_read?)`,
  ],
  [
    "an unknown value",
    `[agents.x]\nbackend = "claud-code"`,
    `agents.x.backend: expected one of api, claude-code, codex, gemini-cli, opencode, acp (did you mean "claude-code"?)`,
  ],
  ["a wrong type", `[defaults]\nmax_running = "4"`, "defaults.max_running: expected a number"],
  ["a fraction", `[defaults]\nmax_running = 1.5`, "defaults.max_running: expected a whole number"],
  ["a list that is none", `[agents.x]\nprompts = "AGENTS.md"`, "agents.x.prompts: expected a list"],
  ["a table that is none", `agents = 1`, "agents: expected a table"],
  ["a missing key", `[prices."a/b"]\ninput = 1`, `prices."a/b".output: expected a number, but it is missing`],
  ["a name that is none", `[agents."a b"]`, `agents."a b": a name has letters`],
  ["an address that is none", `[agents.x]\nbase_url = "localhost"`, "agents.x.base_url: expected an http or https URL"],
  ["a key that every object has", `[constructor]\nmodel = 1`, "unknown key constructor; known here: defaults, agents"],
  ["an empty command", `[agents.x]\ncommand = []`, "agents.x.command: "],
  [
    "several mistakes",
    `[defaults]\nagnet = "x"\nmax_runing = 1`,
    "unknown key defaults.agnet (did you mean agent?) (and 1 more)",
  ],
  ["what is not TOML", `[defaults]\nagent = `, "rookery.toml:2:9: not TOML: "],
])("%s is named with its place", (_, text, expected) => {
  const attempt = () => parseConfig(text, "/repo/rookery.toml");
  expect(attempt).toThrow(expect.objectContaining({ code: "config_invalid" }));
  expect(attempt).toThrow(expected);
  expect(attempt).toThrow("/repo/rookery.toml");
  expect(attempt).not.toThrow("\n");
});
