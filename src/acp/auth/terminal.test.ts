import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuthMethod } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtEnvironment } from "../../testing/environment.ts";
import { temporaryFolder, type TemporaryFolder } from "../../testing/repository.ts";
import { isTerminalLogin, runTerminalLogin, terminalLogin } from "./index.ts";

let folder: TemporaryFolder;
let screen: number;
beforeEach(async () => {
  folder = await temporaryFolder();
  screen = openSync(join(folder.path, "screen"), "a+");
});
afterEach(async () => {
  closeSync(screen);
  await folder[Symbol.asyncDispose]();
});

const method = (more: object = {}): AuthMethod => ({ id: "m", name: "Log in", type: "terminal", ...more });
const shown = () => readFileSync(join(folder.path, "screen"), "utf8");

/** A file that claims to be a terminal. Children write to it through their inherited streams. */
const terminal = (isTTY = true) => {
  const handle = { isTTY, fd: screen };
  return { stdin: handle, stdout: handle, stderr: handle };
};

function run(script: string, more: Parameters<typeof terminalLogin>[0] = method(), signal?: AbortSignal) {
  const env = { ...builtEnvironment({ home: folder.path }), BASE: "base", BOTH: "base" };
  const login = terminalLogin(more, { command: ["sh", "-c", script, "name"], env });
  return runTerminalLogin(login, { cwd: folder.path, stdio: terminal(), signal });
}

it("appends the method's arguments and variables to the agent's command", () => {
  const agent = { command: ["npx", "-y", "agent", "--acp"], env: { KEPT: "1", OVER: "agent" } };
  expect(terminalLogin(method({ args: ["--login"], env: { OVER: "method" } }), agent)).toEqual({
    name: "Log in",
    command: "npx",
    args: ["-y", "agent", "--acp", "--login"],
    env: { KEPT: "1", OVER: "method" },
  });
  expect(terminalLogin(method({ args: null, env: null }), agent).args).toEqual(["-y", "agent", "--acp"]);
});

it("refuses a method that the agent handles itself", () => {
  const agent: AuthMethod = { id: "a", name: "API key" };
  expect(isTerminalLogin(agent)).toBe(false);
  expect(isTerminalLogin(method())).toBe(true);
  expect(() => terminalLogin(agent, { command: ["x"], env: {} })).toThrow(
    'the agent handles the login "API key" itself, without a terminal',
  );
});

it("runs the login in the foreground of the user's terminal", async () => {
  const asked = method({ args: ["to", "login"], env: { BOTH: "method" } });
  await run('echo "$1 $2, $BASE $BOTH, marker:$ROOKERY_OWNER"; ps -o pgid= -p $$ >&2', asked);
  const group = execFileSync("ps", ["-o", "pgid=", "-p", String(process.pid)], { encoding: "utf8" });
  expect(shown()).toBe(`to login, base method, marker:\n${group}`);
});

it("reports the exit code or the signal of a failed login", async () => {
  const failed = (how: string) => ({
    code: "agent_unavailable",
    message: `the login "Log in" failed (${how})`,
  });
  await expect(run("exit 3")).rejects.toMatchObject(failed("exit code 3"));
  await expect(run("kill -9 $$")).rejects.toMatchObject(failed("signal SIGKILL"));
});

it("refuses to run without a terminal and prints the command to type in one", async () => {
  const login = terminalLogin(method({ args: ["--as", "me too"] }), { command: ["agent"], env: {} });
  await expect(runTerminalLogin(login, { cwd: folder.path, stdio: terminal(false) })).rejects.toMatchObject({
    code: "agent_unavailable",
    message:
      "the login \"Log in\" needs a terminal, but this process has none: run agent --as 'me too' in a terminal, then try again",
  });
});

it("reports why the program cannot be started", async () => {
  const login = terminalLogin(method(), { command: ["no-such-program"], env: { PATH: folder.path } });
  await expect(runTerminalLogin(login, { cwd: folder.path, stdio: terminal() })).rejects.toThrow(
    "cannot start no-such-program: there is no such program on the PATH",
  );
});

it("leaves Ctrl-C to the running login and stops it when it is cancelled", async () => {
  const before = process.listenerCount("SIGINT");
  const cancel = new AbortController();
  const running = run("exec sleep 60", method(), cancel.signal);
  expect(process.listenerCount("SIGINT")).toBe(before + 1);
  cancel.abort();
  await expect(running).rejects.toMatchObject({ code: "interrupted" });
  expect(process.listenerCount("SIGINT")).toBe(before);
});

it("starts nothing if the signal has already fired", async () => {
  await expect(run("echo ran", method(), AbortSignal.abort())).rejects.toMatchObject({ code: "interrupted" });
  expect(shown()).toBe("");
});
