/** Logs in to an agent by running its program in the user's terminal. */
import { spawn } from "node:child_process";
import type { AuthMethod } from "@agentclientprotocol/sdk";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { withoutRookerySecrets } from "../../domain/child-environment.ts";
import { RookeryError } from "../../domain/errors.ts";
import { explainStartFailure } from "../../programs/start-failure.ts";
import { formatShellCommand } from "../../programs/shell-command.ts";

const GRACE_MS = 2_000;

/** A command to run in a terminal. */
export interface TerminalLogin {
  /** The agent's name for this login. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: EnvironmentVariables;
}

/** A stream of this process that a child process can inherit. */
interface TerminalHandle {
  readonly isTTY?: boolean;
  readonly fd: number;
}

export interface RunLoginOptions {
  readonly cwd: string;
  readonly signal?: AbortSignal | undefined;
  /** The user's terminal. Default: the standard streams of this process. */
  readonly stdio?:
    { readonly stdin: TerminalHandle; readonly stdout: TerminalHandle; readonly stderr: TerminalHandle } | undefined;
}

export function isTerminalLogin(method: AuthMethod): boolean {
  return "type" in method && method.type === "terminal";
}

/**
 * Returns the agent's command with the method's arguments appended and the method's variables added to its environment.
 * A terminal method is never passed to `authenticate`; after the login, repeat the request that the agent refused.
 * Throws `input_invalid` if the method is not a terminal login.
 */
export function terminalLogin(
  method: AuthMethod,
  agent: { readonly command: readonly string[]; readonly env: EnvironmentVariables },
): TerminalLogin {
  if (!("type" in method) || method.type !== "terminal") {
    throw new RookeryError("input_invalid", `the agent handles the login "${method.name}" itself, without a terminal`);
  }
  const [command, ...args] = agent.command;
  if (command === undefined) throw new RookeryError("agent_unavailable", "the agent's command is empty");
  return {
    name: method.name,
    command,
    args: [...args, ...(method.args ?? [])],
    env: { ...agent.env, ...(method.env ?? {}) },
  };
}

/**
 * Resolves when the login command exits with code 0. Rejects with `agent_unavailable`, `cwd_missing` or `interrupted`.
 */
export async function runTerminalLogin(login: TerminalLogin, options: RunLoginOptions): Promise<void> {
  const { name, command, args } = login;
  const { cwd, signal, stdio = process } = options;
  if (stdio.stdin.isTTY !== true || stdio.stdout.isTTY !== true) {
    const way = `run ${formatShellCommand([command, ...args])} in a terminal, then try again`;
    const message = `the login "${name}" needs a terminal, but this process has none: ${way}`;
    throw new RookeryError("agent_unavailable", message);
  }
  const unlessCancelled = (): void => {
    if (signal?.aborted === true) throw new RookeryError("interrupted", `the login "${name}" was cancelled`);
  };
  unlessCancelled();
  const fds = [stdio.stdin.fd, stdio.stdout.fd, stdio.stderr.fd];
  const end = await runInForeground(login, cwd, fds, signal).catch(async (error: unknown) => {
    throw await explainStartFailure(command, cwd, error);
  });
  unlessCancelled();
  if (end.exitCode === 0) return;
  const how = end.signal === null ? `exit code ${end.exitCode}` : `signal ${end.signal}`;
  throw new RookeryError("agent_unavailable", `the login "${name}" failed (${how})`);
}

/**
 * The child stays in this process group, because only the foreground group can read the terminal. It gets no marker:
 * the browser that a login opens belongs to the user and must keep running.
 */
function runInForeground(
  { command, args, env }: TerminalLogin,
  cwd: string,
  stdio: number[],
  signal: AbortSignal | undefined,
): Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { TERM: process.env["TERM"], ...withoutRookerySecrets(env) },
      stdio,
    });
    let late: NodeJS.Timeout | undefined;
    const stop = (): void => {
      child.kill("SIGTERM");
      late = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    };
    const leave = (): void => undefined; // Ctrl-C is meant for the login, which shares the terminal
    process.on("SIGINT", leave);
    signal?.addEventListener("abort", stop, { once: true });
    const done = (): void => {
      clearTimeout(late);
      process.off("SIGINT", leave);
      signal?.removeEventListener("abort", stop);
    };
    child.once("error", (error) => {
      done();
      reject(error);
    });
    child.once("exit", (exitCode, killedBy) => {
      done();
      resolve({ exitCode, signal: killedBy });
    });
  });
}
