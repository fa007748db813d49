/** The agent's process: lines in, lines out, and an end that leaves nothing running. */
import { setTimeout as sleep } from "node:timers/promises";
import { startGroup, type ProcessGroup } from "../../../../stdx/index.ts";
import { truncateText, stripControlCharacters } from "../quote.ts";
import { createLineSplitter, type AgentLineSink } from "./line-splitter.ts";

export interface CheckTarget {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Absolute: the agent runs in it, and every session is opened for it. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the caller's own, which everything that is started will carry. */
  readonly marker?: string;
}

export interface CheckedProcess {
  write(line: string): void;
  /** Resolves with how it ended, after all of its output was read. */
  readonly ended: Promise<string>;
  /** Ends its input, waits that long, and then ends the whole group; true where it went by itself. */
  close(patienceMs: number): Promise<boolean>;
}

const STDERR_TAIL_LENGTH = 2_000;
const DRAIN_MS = 500;

export async function startCheckedProcess(
  target: CheckTarget,
  marker: string,
  sink: AgentLineSink,
): Promise<CheckedProcess> {
  const [program, ...args] = target.command;
  if (program === undefined) throw new Error("there is no command to start an agent with");
  const group = await startGroup(program, args, {
    cwd: target.cwd,
    env: target.env,
    marker: target.marker === undefined ? marker : `${target.marker},${marker}`,
    stdin: "pipe",
  }).catch((cause: unknown) => {
    throw new Error(`${program} cannot be started in ${target.cwd}: ${String(cause)}`, { cause });
  });
  const { stdin, stdout, stderr } = group.child;
  const lines = createLineSplitter(sink);
  let said = "";
  stdin?.on("error", () => undefined); // that it ended is told by its end
  stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
  stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString("latin1")).slice(-STDERR_TAIL_LENGTH)));
  let closing: Promise<boolean> | undefined;
  return {
    write: (line) => void stdin?.write(`${line}\n`),
    ended: waitForOutput(group).then(() => formatExit(group, said)),
    close: (patienceMs) =>
      (closing ??= (async () => {
        stdin?.end();
        const went = await settlesWithin(patienceMs, waitForOutput(group));
        if (went) lines.end();
        await group.stop();
        return went;
      })()),
  };
}

/** Its output was read to the end, unless somebody else holds it open after the leader is gone. */
async function waitForOutput(group: ProcessGroup): Promise<void> {
  await group.ended;
  await settlesWithin(DRAIN_MS, group.exited);
}

function formatExit({ child }: ProcessGroup, stderr: string): string {
  const how = child.signalCode === null ? `exit code ${child.exitCode ?? "unknown"}` : `signal ${child.signalCode}`;
  const last = stripControlCharacters(stderr.trimEnd().split("\n").at(-1) ?? "");
  return `the agent ended (${how})${last === "" ? "" : `, its last words: ${truncateText(last)}`}`;
}

/** Whether it came in time. */
export async function settlesWithin(ms: number, event: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([event.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
