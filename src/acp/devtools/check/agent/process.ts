/** The agent's process: reads and writes lines, and leaves nothing running after `close`. */
import { settlesWithin, startGroup, type ProcessGroup } from "../../../../stdx/index.ts";
import { truncateText, stripControlCharacters } from "../quote.ts";
import { createAgentOutputSplitter, type AgentLineSink } from "./line-splitter.ts";

export interface CheckTarget {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** An absolute path. The agent's working directory, and the directory of every session. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An additional marker that every started process carries. */
  readonly marker?: string;
}

export interface CheckedProcess {
  write(line: string): void;
  /** Resolves with a description of the exit, after all output is read. */
  readonly ended: Promise<string>;
  /**
   * Closes stdin, waits `patienceMs`, then stops the process group. Resolves with true if the process exited by itself.
   */
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
  if (program === undefined) throw new Error("there is no command to start the agent");
  const group = await startGroup(program, args, {
    cwd: target.cwd,
    env: target.env,
    marker: target.marker === undefined ? marker : `${target.marker},${marker}`,
    stdin: "pipe",
  }).catch((cause: unknown) => {
    throw new Error(`${program} cannot be started in ${target.cwd}: ${String(cause)}`, { cause });
  });
  const { stdin, stdout, stderr } = group.child;
  const lines = createAgentOutputSplitter(sink);
  let stderrTail = "";
  stdin?.on("error", () => undefined); // the exit is reported separately
  stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
  stderr?.on(
    "data",
    (chunk: Buffer) => (stderrTail = (stderrTail + chunk.toString("latin1")).slice(-STDERR_TAIL_LENGTH)),
  );
  let closing: Promise<boolean> | undefined;
  return {
    write: (line) => void stdin?.write(`${line}\n`),
    ended: waitForOutput(group).then(() => formatExit(group, stderrTail)),
    close: (patienceMs) =>
      (closing ??= (async () => {
        stdin?.end();
        const exitedByItself = await settlesWithin(patienceMs, waitForOutput(group));
        if (exitedByItself) lines.end();
        await group.stop();
        return exitedByItself;
      })()),
  };
}

/** Waits for the end of the output, but not forever: another process may keep it open after the leader exits. */
async function waitForOutput(group: ProcessGroup): Promise<void> {
  await group.ended;
  await settlesWithin(DRAIN_MS, group.exited);
}

function formatExit({ child }: ProcessGroup, stderr: string): string {
  const how = child.signalCode === null ? `exit code ${child.exitCode ?? "unknown"}` : `signal ${child.signalCode}`;
  const last = stripControlCharacters(stderr.trimEnd().split("\n").at(-1) ?? "");
  return `the agent ended (${how})${last === "" ? "" : `; its last line on stderr: ${truncateText(last)}`}`;
}
