import { expect, it } from "vitest";
import { COMMANDS, PROGRAM } from "../commands.ts";
import { findCompletionTarget } from "./target.ts";

/** Returns what `rookery complete` offers without the configuration and the log: words, and `<kind>`. */
function offered(...words: string[]): string[] {
  const { words: found, typed, prefix, kind } = findCompletionTarget(PROGRAM, words);
  const matching = found.filter(({ word }) => word.startsWith(typed)).map(({ word }) => `${prefix}${word}`);
  return [...matching, ...(kind === undefined ? [] : [`<${kind}>`])];
}

it.each<[string[], string[]]>([
  [[""], [...COMMANDS.filter(({ hidden }) => hidden !== true).map(({ name }) => name), "help"]],
  [["se"], ["serve", "sessions", "search"]],
  [
    ["task", ""],
    ["start", "list", "show", "logs", "stop", "resume", "diff", "merge", "remove", "gc"],
  ],
  [["tasks", "me"], ["merge"]],
  [["session", "s"], ["show"]],
  [["nothing", ""], []],
  [["task", "merge", "last", "--d"], ["--dry-run"]],
  [
    ["task", "merge", "last", "--how", ""],
    ["merge", "squash", "rebase"],
  ],
  [["task", "merge", "last", "--how=s"], ["--how=squash"]],
  [
    ["task", "list", "--status", "p"],
    ["preparing", "parked"],
  ],
  [["serve", "--allow"], ["--allow-host"]],
  [["sessions", "events", "last", "--f"], ["--follow"]],
  [["sessions", "--st"], ["--status"]],
  [["run", "--p"], ["--permissions"]],
  [["run", "-p"], ["-p"]],
  [
    ["run", "-p", "a"],
    ["ask", "all"],
  ],
  [
    ["run", "--json", "--permissions", "a"],
    ["ask", "all"],
  ],
  [["run", "some prompt", ""], []],
  [["completion", "z"], ["zsh"]],
  [
    ["help", "d"],
    ["doctor", "demo"],
  ],
  [["help", "task", "me"], ["merge"]],
  [["help", "run", ""], []],
  [["--v"], ["--version"]],
  [["--res"], ["--resume"]],
  [["-m", ""], ["<models>"]],
  [["-m", "x", "run", "--p"], ["--permissions"]],
  [["-m", "x", "run", "--mo"], []],
])("completes %j with %j", (words, expected) => {
  expect(offered(...words)).toEqual(expected);
});

it.each<[string[], string]>([
  [["run", "--agent", ""], "agents"],
  [["run", "--agent=c"], "agents"],
  [["run", "-s", ""], "sessions"],
  [["sessions", "show", "--last", "2", ""], "sessions"],
  [["sessions", "show", "-"], ""],
  [["task", "start", "--needs", "one", "--needs", ""], "tasks"],
  [["task", "start", "--base", ""], "branches"],
  [["tell", "--follow-up", "c"], "conversations"],
  [["answer", "last", ""], "requests"],
  [["answer", "last", "--message", "no", ""], "requests"],
  [["mcp", "auth", ""], "servers"],
  [["mcp", "add", ""], ""],
  [["config", "set", ""], "keys"],
  [["acp", "registry", ""], "registry"],
  [["acp", "trace", ""], "files"],
  [["acp", "check", "--", "gemini", ""], ""],
  [["acp", "check", "gemini", "--"], ""],
  [["run", "--", "--agent", ""], ""],
  [["trust", "~/s"], "directories"],
])("completes %j with %s", (words, kind) => {
  expect(findCompletionTarget(PROGRAM, words).kind ?? "").toBe(kind);
});

it("offers an option again only if it can be repeated", () => {
  expect(offered("run", "-a", "claude", "--a")).toEqual(["--add-dir"]);
  expect(offered("run", "--add-dir", "..", "--a")).toEqual(["--agent", "--add-dir"]);
});

it("offers the answers as long as the session and the request can be left out", () => {
  expect(offered("answer", "al")).toEqual(["allow", "always", "<waiting>"]);
  expect(offered("answer", "last", "r1", "al")).toEqual(["allow", "always"]);
});
