import { expect, it } from "vitest";
import { programFamilyOf } from "./program-family.ts";

it.each([
  [["claude"], "claude"],
  [["/home/claude/bin/codex-acp"], "codex"],
  [["/opt/codex/gemini", "--acp"], "gemini"],
  [["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.49.0"], "claude"],
  [["npx", "--package", "@openai/codex", "codex-acp"], "codex"],
  [["npm", "exec", "--", "opencode-ai@1.18.33", "acp"], "opencode"],
  [["node", "/srv/claude/node_modules/@openai/codex/bin/codex.js"], "codex"],
  [["env", "MODEL=claude", "gemini"], "gemini"],
  [["/home/claude/my-agent", "--name", "codex"], undefined],
  [["npx", "my-agent", "claude"], undefined],
  [["node", "/home/claude/agent.js"], undefined],
  [[], undefined],
] as const)("maps %j to %s", (command, family) => {
  expect(programFamilyOf({ command })).toBe(family);
});

it.each([
  ["claude-acp", "claude"],
  ["codex-acp", "codex"],
  ["gemini", "gemini"],
  ["opencode", "opencode"],
  ["goose", undefined],
])("maps the registry entry %s to %s", (registry, family) => {
  expect(programFamilyOf({ registry })).toBe(family);
});
