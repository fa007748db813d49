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
tools = { allow = ["fs__*", "github__*"], deny = ["fs__write", { destructive = true }] }
mcp = ["files", "web"]
base_url = "http://127.0.0.1:8080/v1"
[agents.zedlike]
backend = "acp"
command = ["npx", "-y", "@agentclientprotocol/codex-acp"]
[mcp.files]
command = ["npx", "-y", "files", "\${WORKSPACE}"]
env = { TOKEN = "$TOKEN" }
cwd = "tools"
timeout = 90
connect_timeout = 2.5
defer = true
[mcp.web]
url = "https://web.invalid/mcp"
type = "sse"
headers = { Authorization = "Bearer \${TOKEN}" }
oauth = { client_id = "me", client_secret = "$SECRET", scopes = ["read"], callback_port = 8123 }
enabled = false
[tools]
defer_over = 20000
[worktree]
setup = "npm ci"
copy = [".env"]
[prices."anthropic/claude-sonnet-5"]
input = 3
output = 15.0
cache_read = 0.3
cache_write = 3.75
`;

it("accepts everything that the documentation shows", () => {
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
  ["an unrelated key", `[defaults]\nzzz = 1`, "unknown key defaults.zzz; known here: agent, max_running"],
  [
    "a key of a price",
    `[prices."a/b"]\ninput = 1\noutput = 1\ncache_raed = 1`,
    `prices."a/b".cache_raed (did you mean cache_read?)`,
  ],
  [
    "an unknown value",
    `[agents.x]\nbackend = "claud-code"`,
    `agents.x.backend: expected one of api, claude-code, codex, gemini-cli, opencode, acp, command, or the name of a registered backend (did you mean "claude-code"?)`,
  ],
  ["a wrong type", `[defaults]\nmax_running = "4"`, "defaults.max_running: expected a number"],
  ["a fraction", `[defaults]\nmax_running = 1.5`, "defaults.max_running: expected a whole number"],
  ["a text instead of a list", `[agents.x]\nprompts = "AGENTS.md"`, "agents.x.prompts: expected a list"],
  ["a value instead of a table", `agents = 1`, "agents: expected a table"],
  ...[
    ["per token", "0.000003"],
    ["per thousand tokens", "0.003"],
    ["in cents of a cent", "30000"],
    ["a negative price", "-3"],
  ].map(([how, value]): [string, string, string] => [
    `a price ${how ?? ""}`,
    `[prices."a/b"]\ninput = ${value ?? ""}\noutput = 15`,
    `prices."a/b".input: ${value ?? ""} is not a plausible price (expected 0, or from 0.005 to 1000): the unit is USD per million tokens`,
  ]),
  [
    "a key instead of the name of its variable",
    `[providers.x]\nkey_env = "sk-ant-123"`,
    "providers.x.key_env: must be the name of an environment variable that contains the key, not the key itself",
  ],
  ["a key of a provider", `[providers.x]\nkey = "a"`, "unknown key providers.x.key"],
  [
    "an unknown kind of provider",
    `[providers.x]\nkind = "opnai"`,
    `providers.x.kind: expected one of anthropic, openai, google, openai-compatible (did you mean "openai"?)`,
  ],
  ["an unknown effort", `[agents.x]\neffort = "hi"`, "agents.x.effort: expected one of off, low, medium, high, max"],
  ["a missing key", `[prices."a/b"]\ninput = 1`, `prices."a/b".output: expected a number, but it is missing`],
  ["an invalid name", `[agents."a b"]`, `agents."a b": a name may contain only letters`],
  ["an invalid URL", `[agents.x]\nbase_url = "localhost"`, "agents.x.base_url: expected an http or https URL"],
  [
    "a key that every JavaScript object has",
    `[constructor]\nmodel = 1`,
    "unknown key constructor; known here: defaults, agents",
  ],
  ["an empty command", `[agents.x]\ncommand = []`, "agents.x.command: "],
  ["an unknown key of a server", `[mcp.x]\ncomand = ["c"]`, "unknown key mcp.x.comand (did you mean command?)"],
  [
    "an unknown key of a login",
    `[mcp.x]\nurl = "u"\noauth = { clientid = "a" }`,
    "unknown key mcp.x.oauth.clientid (did you mean client_id?)",
  ],
  ["a server without command and url", `[mcp.x]\ntimeout = 1`, "mcp.x: needs either command or url"],
  ["a server with command and url", `[mcp.x]\ncommand = ["c"]\nurl = "u"`, "mcp.x: needs either command or url"],
  ["headers for a command", `[mcp.x]\ncommand = ["c"]\nheaders = {}`, "mcp.x.headers: is only valid with url"],
  ["a working directory for a URL", `[mcp.x]\nurl = "u"\ncwd = "."`, "mcp.x.cwd: is only valid with command"],
  ["a command that is not a list", `[mcp.x]\ncommand = "c"`, "mcp.x.command: expected a list"],
  ["an invalid server name", `[mcp."a b"]\ncommand = ["c"]`, `mcp."a b": a name may contain only letters`],
  ["an unknown server type", `[mcp.x]\nurl = "u"\ntype = "htp"`, `expected one of http, sse (did you mean "http"?)`],
  ["a timeout of zero", `[mcp.x]\nurl = "u"\ntimeout = 0`, "mcp.x.timeout: "],
  ["an invalid port", `[mcp.x]\nurl = "u"\noauth = { callback_port = 70000 }`, "mcp.x.oauth.callback_port: "],
  ["an invalid size", `[tools]\ndefer_over = true`, "tools.defer_over: expected a number or false"],
  ["a negative size", `[tools]\ndefer_over = -1`, "tools.defer_over: must be 0 or more"],
  ["an empty command of a stage", `[mcp.x]\ncommand = []`, "mcp.x.command: must not be empty"],
  ["an invalid time", `[mcp.x]\ncommand = ["a"]\ntimeout = 0`, "mcp.x.timeout: must be more than 0"],
  [
    "an unknown hint of tools",
    `[agents.x]\ntools = { allow = ["a", { readonly = true }] }`,
    "unknown key agents.x.tools.allow.1.readonly (did you mean readOnly?)",
  ],
  ["an invalid hint", `[agents.x]\ntools = { deny = [{ readOnly = 1 }] }`, "tools.deny.0.readOnly: expected a boolean"],
  [
    "an empty table of hints",
    `[agents.x]\ntools = { deny = [{}] }`,
    "agents.x.tools.deny.0: expected at least one of readOnly",
  ],
  ["an invalid tool", `[agents.x]\ntools = { deny = [7] }`, "agents.x.tools.deny.0: expected a string or a table"],
  [
    "the first of several mistakes",
    `[defaults]\nagnet = "x"\nmax_runing = 1`,
    "unknown key defaults.agnet (did you mean agent?) (and 1 more)",
  ],
  ["invalid TOML", `[defaults]\nagent = `, "rookery.toml:2:9: not TOML: "],
])("reports %s with its location", (_, text, expected) => {
  const attempt = () => parseConfig(text, "/repo/rookery.toml");
  expect(attempt).toThrow(expect.objectContaining({ code: "config_invalid" }));
  expect(attempt).toThrow(expected);
  expect(attempt).toThrow("/repo/rookery.toml");
  expect(attempt).not.toThrow("\n");
});

const HOSTILE = {
  "100,000 dotted keys": `${"a.".repeat(100_000)}a = 1`,
  "a table 100,000 deep": `[${"a.".repeat(100_000)}a]`,
  "an agent 10,000 deep": `agents.x.${"a.".repeat(10_000)}a = 1`,
  "lists 100,000 deep": `a = ${"[".repeat(100_000)}`,
  "20,000 unknown keys": Array.from({ length: 20_000 }, (_, n) => `k${n} = 1`).join("\n"),
};

it.each(Object.entries(HOSTILE))("%s are config_invalid, in a short message", (_, text) => {
  let thrown: unknown;
  try {
    parseConfig(text, "rookery.toml");
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: "config_invalid" });
  expect((thrown as Error).message.length).toBeLessThan(1_000);
});
