import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newId, shortId } from "../../domain/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { temporaryFolder } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { COMMANDS } from "../commands.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

function completed(...words: string[]): string[] {
  return completedWith(process.env["PATH"] ?? "", ...words);
}

function completedWith(PATH: string, ...words: string[]): string[] {
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rookery; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${bashScript(COMMANDS)}\n${ask}`;
  const output = execFileSync("bash", ["-c", script, "bash", "rookery", ...words], {
    encoding: "utf8",
    env: { ...process.env, PATH },
  });
  return output.split("\n").filter((word) => word !== "");
}

it.each<[string[], string[]]>([
  [
    [""],
    [
      ["chat", "run", "task", "serve", "sessions", "usage", "acp", "mcp"],
      ["tell", "inbox", "answer", "agents", "init", "config", "trust", "doctor", "demo", "completion", "help"],
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
  [["inb"], ["inbox"]],
  [
    ["mcp", ""],
    ["list", "tools", "add", "remove", "auth", "logout", "call", "serve"],
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

it("bash asks rookery for agents, models, sessions, tasks and requests, and never offers files for them", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "rookery");
  await writeFile(file, '#!/bin/sh\nprintf "%s-of-%s\\tA summary\\n\\$(touch %s/pwned)\\n" "$2" "$4" "$PWD"\n', {
    mode: 0o755,
  });
  const PATH = `${folder.path}:${process.env["PATH"] ?? ""}`;
  const dynamic: [string[], string][] = [
    [["run", "--agent", ""], "agents-of---agent"],
    [["run", "--model", "m"], "models-of---model"],
    [["run", "--session", "s"], "sessions-of---session"],
    [["sessions", "show", ""], "sessions-of-show"],
    [["task", "merge", ""], "tasks-of-merge"],
    [["tell", "c"], "conversations-of-tell"],
    [["answer", "ses_1", ""], "requests-of-ses_1"],
    [["mcp", "auth", ""], "servers-of-auth"],
  ];
  for (const [words, expected] of dynamic) expect(completedWith(PATH, ...words)[0]).toBe(expected);
  expect(existsSync("pwned")).toBe(false);
  expect(completedWith(PATH, "run", "--cwd", folder.path)).toEqual([folder.path]);
  expect(completedWith(PATH, "task", "start", "READ")).toEqual([]);
});

describe("rookery complete", () => {
  it("lists agents and models of the configuration", async () => {
    await using fixture = await openCommandFixture();
    const agents = await fixture.rookery(["complete", "agents", "an"]);
    expect(agents).toEqual({ code: 0, stdout: "anthropic\tanthropic/claude-sonnet-5\n", stderr: "" });
    const models = await fixture.rookery(["complete", "models", "openai/"]);
    expect(models.stdout).toMatch(/^openai\/gpt-/m);
  });

  it("lists sessions and the open requests of one, newest first and bounded", async () => {
    await using fixture = await openCommandFixture();
    await using store = await openSqliteStore({ path: join(fixture.home, ".rookery", "rookery.db") });
    const at = new Date().toISOString();
    const cwd = fixture.repository.path;
    const opened = { type: "session.opened", agent: "a", backend: "api", cwd, permissions: "ask", at } as const;
    const asked = {
      type: "permission.requested",
      agent: "a",
      at,
      requestId: "req_1",
      toolId: "tol_1",
      kind: "execute",
      tool: "bash",
      title: "ls",
    } as const;
    const ids = Array.from({ length: 120 }, () => newId("ses"));
    for (const sessionId of ids) await store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [opened] });
    const newest = ids.at(-1) ?? "";
    await store.append({ sessionId: newest, id: newId("app"), expectedHead: 1, events: [{ ...asked, input: {} }] });
    const words = (text: string) => text.split("\n").map((line) => line.split("\t")[0]);
    const sessions = words((await fixture.rookery(["complete", "sessions"])).stdout);
    expect(sessions.slice(0, 2)).toEqual(["last", shortId(newest)]);
    expect(sessions).toHaveLength(101);
    expect(words((await fixture.rookery(["complete", "requests", "", shortId(newest)])).stdout)).toEqual(["req_1", ""]);
    expect(words((await fixture.rookery(["complete", "requests", "", "last"])).stdout)).toEqual(["req_1", ""]);
  });

  it("prints nothing without a log, and creates none", async () => {
    await using fixture = await openCommandFixture([], { codeCache: false });
    for (const kind of ["sessions", "tasks", "conversations", "requests"]) {
      expect(await fixture.rookery(["complete", kind])).toEqual({ code: 0, stdout: "", stderr: "" });
    }
    expect(existsSync(join(fixture.home, ".rookery"))).toBe(false);
  });
});
