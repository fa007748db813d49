/** One life of the child: started, listened to, and seen to its end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Said } from "./test-boundaries.ts";
import type { ChildOptions } from "./test-child.ts";

export interface Life {
  /** Every boundary, where they were to be said. */
  readonly reached: readonly string[];
  /** Undefined where it came to its own end. */
  readonly killedAt: string | undefined;
  readonly settled: Readonly<Record<string, number>>;
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** Past this something waits for what never comes. */
const LONGEST_MS = 60_000;

export async function live(options: {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly child: ChildOptions;
  readonly onSession: (id: string) => void;
}): Promise<Life> {
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
  let settled: Life["settled"] = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as Said;
    if ("reached" in said) reached.push(said.reached);
    else if ("killed" in said) killedAt = said.killed;
    else if ("session" in said) options.onSession(said.session);
    else ({ settled } = said);
  }
  const [exitCode] = (await over) as [number | null];
  clearTimeout(late);
  return { reached, killedAt, settled, exitCode, stderr };
}
