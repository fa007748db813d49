import { execFileSync, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { COMMANDS } from "../commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

function completed(...words: string[]): string[] {
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rookery; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${bashScript(COMMANDS)}\n${ask}`;
  const output = execFileSync("bash", ["-c", script, "bash", "rookery", ...words], { encoding: "utf8" });
  return output.split("\n").filter((word) => word !== "");
}

it.each<[string[], string[]]>([
  [
    [""],
    [
      ["run", "task", "serve", "sessions", "usage", "acp", "mcp"],
      ["tell", "answer", "agents", "trust", "doctor", "demo", "completion", "help"],
    ].flat(),
  ],
  [["se"], ["serve", "sessions"]],
  [
    ["task", ""],
    ["start", "list", "show", "logs", "stop", "resume", "diff", "merge", "remove", "gc"],
  ],
  [["task", "merge", "last", "--d"], ["--dry-run"]],
  [
    ["task", "merge", "last", "--how", ""],
    ["merge", "squash", "rebase"],
  ],
  [
    ["task", "list", "--status", "p"],
    ["preparing", "parked"],
  ],
  [["serve", "--allow"], ["--allow-host"]],
  [
    ["sessions", ""],
    ["list", "show", "events", "close", "fork", "delete"],
  ],
  [["sessions", "e"], ["events"]],
  [["sessions", "events", "last", "--f"], ["--follow"]],
  [["sessions", "--st"], ["--status"]],
  [["run", "--p"], ["--permissions"]],
  [
    ["run", "--permissions", ""],
    ["ask", "read", "all", "none"],
  ],
  [
    ["run", "--json", "--permissions", "a"],
    ["ask", "all"],
  ],
  [
    ["answer", "last", "r1", "al"],
    ["allow", "always"],
  ],
  [["answer", "last", ""], []],
  [
    ["mcp", ""],
    ["list", "auth", "logout", "call", "serve"],
  ],
  [
    ["mcp", "serve", "--permissions", "a"],
    ["ask", "all"],
  ],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [
    ["help", "d"],
    ["doctor", "demo"],
  ],
  [["--v"], ["--version"]],
  [["run", "some prompt", ""], []],
])("bash completes %j with %j", (words, expected) => {
  expect(completed(...words)).toEqual(expected);
});

it.each([
  ["bash", bashScript],
  ["zsh", zshScript],
  ["fish", fishScript],
] as const)("the script for %s contains every command and option and is valid", (shell, script) => {
  const text = script(COMMANDS);
  for (const { name, options = [] } of COMMANDS) {
    expect(text).toContain(name);
    for (const { flags } of options) expect(text).toContain(flags.split(" ")[0]?.replace(/^--/, ""));
  }
  const check = spawnSync(shell, ["-n"], { input: text, encoding: "utf8" });
  if (check.error === undefined) expect(check.stderr).toBe(""); // the shell may not be installed
});
