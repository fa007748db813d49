import { expect, it } from "vitest";
import { formatTomlValue, parseKeyPath, parseTomlValue, removeTomlValue, setTomlValue } from "./edit-toml.ts";

const FILE = `# my settings
[defaults]
agent = "claude" # the best one

# servers
[mcp.files]
command = [
  "npx", # with a comment
  "files",
]
env = { KEY = "a # b" }

[prices."a/b"]
input = 1
output = 2
`;

it.each<[string, string, string]>([
  ["defaults.agent", "codex", 'agent = "codex" # the best one\n'],
  ["defaults.max_running", "3", 'agent = "claude" # the best one\nmax_running = 3\n\n# servers'],
  ["mcp.files.command", '["a"]', '[mcp.files]\ncommand = ["a"]\nenv = { KEY = "a # b" }\n'],
  ["mcp.files.timeout", "5", 'env = { KEY = "a # b" }\ntimeout = 5\n'],
  ['prices."a/b".input', "7", '[prices."a/b"]\ninput = 7\noutput = 2\n'],
  ["merge.gate", "npm test", 'output = 2\n\n[merge]\ngate = "npm test"\n'],
])("sets %s to %s and keeps the rest", (key, value, expected) => {
  const changed = setTomlValue(FILE, parseKeyPath(key), parseTomlValue(value));
  expect(changed).toContain(expected);
  expect(changed).toContain("# my settings\n[defaults]\n");
});

it("creates the first table of an empty file", () => {
  expect(setTomlValue("", ["defaults", "agent"], "a")).toBe('[defaults]\nagent = "a"\n');
});

it("removes a table with its sub-tables, and nothing else", () => {
  const text = `${FILE}\n[mcp.files.oauth]\nclient_id = "x"\n`;
  const removed = removeTomlValue(text, ["mcp", "files"]) ?? "";
  expect(removed).not.toMatch(/mcp|npx|KEY|client_id/);
  expect(removed).toContain('[prices."a/b"]\ninput = 1\n');
  expect(removeTomlValue(FILE, ["mcp", "none"])).toBeUndefined();
});

it("refuses a form that it cannot change", () => {
  const inline = 'mcp = { files = { command = ["a"] } }\n';
  expect(() => setTomlValue(inline, ["mcp", "files", "timeout"], 5)).toThrow("rookery config edit");
});

it.each(["", ".", "a..b", "a b", "a."])("rejects the key %j", (text) => {
  expect(() => parseKeyPath(text)).toThrow("is not a key");
});

it.each<[string, unknown]>([
  ["5", 5],
  ["true", true],
  ['["a"]', ["a"]],
  ["npm test", "npm test"],
  ['"quoted"', "quoted"],
  ["a\nb = 1", "a\nb = 1"],
  ["1\nb = 1", "1\nb = 1"],
])("reads %j as %j", (text, value) => {
  expect(parseTomlValue(text)).toEqual(value);
  expect(parseTomlValue(formatTomlValue(value as string))).toEqual(value);
});

it("sets a value in a file with spaces around dots and a long line of dots", () => {
  const text = `[a . b]\nc . d = 1\nnote = """\n${"line\n".repeat(1_100)}${".".repeat(40)}\n"""\n`;
  expect(setTomlValue(text, ["a", "b", "c", "d"], 2)).toContain("[a . b]\nc . d = 2\n");
});
