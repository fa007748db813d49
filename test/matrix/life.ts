/** Runs the child process once and collects its messages until it ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ChildMessage } from "./boundaries.ts";
import type { ChildOptions } from "./child.ts";

export interface ChildRun {
  /** Every boundary that it crossed, if it was asked to report them. */
  readonly reached: readonly string[];
  /** Undefined if it ended by itself. */
  readonly killedAt: string | undefined;
  readonly settled: Readonly<Record<string, number>>;
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** A process that takes longer hangs. */
const LONGEST_MS = 60_000;

export async function runChild(options: {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly child: ChildOptions;
  readonly onSession: (id: string) => void;
}): Promise<ChildRun> {
  const { program, cwd, env, child: given } = options;
  const child = spawn(process.execPath, [program, JSON.stringify(given)], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const over = once(child, "close");
  const late = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const reached: string[] = [];
  let killedAt: string | undefined;
  let settled: ChildRun["settled"] = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as ChildMessage;
    if ("reached" in said) reached.push(said.reached);
    else if ("killed" in said) killedAt = said.killed;
    else if ("session" in said) options.onSession(said.session);
    else ({ settled } = said);
  }
  const [exitCode] = (await over) as [number | null];
  clearTimeout(late);
  return { reached, killedAt, settled, exitCode, stderr };
}
