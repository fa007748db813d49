/** Runs a shell command in the working folder, in a process group that ends with the call. */
import { randomBytes } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as polled, setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ToolContext, ToolResult } from "../../domain/index.ts";
import { DisposeStack, deferred, killMarked, startGroup, type ProcessGroup } from "../../stdx/index.ts";
import { MAX_RESULT_LENGTH, joined } from "./text.ts";
import { defineTool, systemText, type CallContext } from "./tool.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** How long the output may pause after the shell ended, and how often it may go on; what still runs is killed then. */
const DRAIN_MS = 200;
const DRAIN_ROUNDS = 10;
const TITLE_LENGTH = 120;
const MAX_PROGRESS_LENGTH = 100_000;

export const bash = defineTool({
  name: "bash",
  description:
    "Run a command with bash in the working folder and wait for its end. Gives its output and exit code. What it leaves in the background is ended with it.",
  kind: "execute",
  readOnly: false,
  input: z.strictObject({
    command: systemText(),
    timeout_ms: z.int().positive().max(MAX_TIMEOUT_MS).optional().describe(`${DEFAULT_TIMEOUT_MS} if not said`),
  }),
  describe: ({ command }) => ({ title: `bash: ${shortened(command)}` }),
  run: ({ command, timeout_ms = DEFAULT_TIMEOUT_MS }, context) => runCommand(command, timeout_ms, context),
});

/** For a line of its own; what is left out is said. */
function shortened(command: string): string {
  const [first = "", ...more] = command.trim().split("\n");
  const line = first.length > TITLE_LENGTH ? `${first.slice(0, TITLE_LENGTH).toWellFormed()}…` : first;
  return more.length === 0 ? line : `${line} … (+${more.length} ${more.length === 1 ? "line" : "lines"})`;
}

async function runCommand(command: string, timeoutMs: number, context: CallContext): Promise<ToolResult> {
  const { cwd, env, signal, marker } = context;
  const own = `call-${randomBytes(6).toString("hex")}`;
  await using running = new DisposeStack();
  running.defer(() => killMarked(own)); // what left the group
  const group = running.use(await startGroup("bash", ["-c", command], { cwd, env, marker: `${marker},${own}` }));
  const output = collect(group, context);
  const { pid, startTime } = group.identity;
  const shown = command.slice(0, 1_000).toWellFormed();
  await context.record({ type: "process.started", pid, startTime, marker, command: shown });

  const how = await endOf(group, timeoutMs, signal);
  if (how === "ended") await drain(group, output);
  await group.stop();
  const { exitCode, signal: killedBy } = await group.exited;
  await context.record({ type: "process.exited", pid, exitCode, signal: killedBy });

  const text = output.text();
  switch (how) {
    case "cancelled":
      return { outcome: "cancelled", text: `${text}\n[cancelled]` };
    case "timed_out":
      return { outcome: "timed_out", text: `${text}\n[stopped after ${timeoutMs} ms]` };
    case "ended": {
      const end = exitCode === null ? `[killed by ${killedBy ?? "a signal"}]` : `[exit code ${exitCode}]`;
      return { outcome: exitCode === 0 ? "ok" : "failed", text: text === "" ? end : `${text}\n${end}` };
    }
  }
}

interface Output {
  /** How much came so far. */
  length(): number;
  text(): string;
}

/** Reads both streams as they come, so that a flood neither blocks the command nor fills the memory. */
function collect({ child }: ProcessGroup, context: ToolContext): Output {
  const half = MAX_RESULT_LENGTH / 2;
  let head = "";
  let tail = "";
  let length = 0;
  const take = (text: string): void => {
    if (length < MAX_PROGRESS_LENGTH) context.progress(text.slice(0, MAX_PROGRESS_LENGTH - length).toWellFormed());
    length += text.length;
    const room = half - head.length;
    head += text.slice(0, room);
    tail = (tail + text.slice(room)).slice(-half);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (bytes: Buffer) => take(decoder.write(bytes)));
    stream?.on("error", () => undefined); // destroyed on purpose when the group is stopped
  }
  return { length: () => length, text: () => joined(head, length - head.length - tail.length, tail) };
}

async function drain(group: ProcessGroup, output: Output): Promise<void> {
  const closed = group.exited.then(() => true);
  let before = -1;
  for (let round = 0; round < DRAIN_ROUNDS && before !== output.length(); round += 1) {
    before = output.length();
    if (await Promise.race([closed, pause()])) return;
  }
}

/** Where the process was busy for all of the pause, the pipes have still to be looked at. */
async function pause(): Promise<false> {
  await sleep(DRAIN_MS, undefined, { ref: false });
  await polled();
  return false;
}

type How = "ended" | "timed_out" | "cancelled";

async function endOf(group: ProcessGroup, timeoutMs: number, signal: AbortSignal): Promise<How> {
  if (signal.aborted) return "cancelled";
  const how = deferred<How>();
  const cancel = (): void => how.resolve("cancelled");
  const timer = setTimeout(() => how.resolve("timed_out"), timeoutMs);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([how.promise, group.ended.then(() => "ended" as const)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
