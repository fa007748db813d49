import { expect, it } from "vitest";
import { formatTrustedActions } from "../cli/run/trust-prompt.ts";
import { temporaryRepository } from "../testing/index.ts";
import { listTrustedActions } from "./trusted-actions.ts";

it("lists the commands, servers and hooks of a repository without running them", async () => {
  await using repository = await temporaryRepository({
    "rookery.toml": `
[worktree]
setup = "npm ci\\u001b[2J"
[merge]
gate = "npm test"
[agents.mine]
backend = "command"
command = ["./agent.sh", "{prompt}"]
[mcp.hub]
url = "https://hub.example/mcp"
[pipelines.p]
stages = [{ agent = "mine" }, { run = "make check" }]
`,
    ".mcp.json": JSON.stringify({ mcpServers: { files: { command: "npx", args: ["-y", "files"] } } }),
    ".claude/settings.json": JSON.stringify({
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "./check.sh" }] }] },
    }),
  });
  const actions = await listTrustedActions(repository.path);
  expect(formatTrustedActions(actions)).toBe(`This would run:
  worktree.setup: npm ci<U+001B>[2J
  merge.gate: npm test
  agents.mine.command: ./agent.sh {prompt}
  mcp.hub: https://hub.example/mcp
  pipelines.p: make check
  .mcp.json files: npx -y files
  .claude/settings.json hook PreToolUse: ./check.sh
`);
});

it("lists at most 20, and says how many are left", () => {
  const many = Array.from({ length: 30 }, (_, index) => ({ where: `hook ${index}`, what: "x".repeat(1_000) }));
  const lines = formatTrustedActions(many).trimEnd().split("\n");
  expect(lines).toHaveLength(22);
  expect(lines.at(-1)).toBe("  … and 10 more; read the files");
  expect(lines[1]?.length).toBeLessThan(330);
  expect(formatTrustedActions([])).toBe("");
});
