/** Runs a shell command in the working folder, in a process group that ends with the call. */
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { ToolContext, ToolResult } from "../../domain/index.ts";
import { deferred, startGroup, type ProcessGroup } from "../../stdx/index.ts";
import { MAX_RESULT_LENGTH, bounded } from "./text.ts";
import { defineTool } from "./tool.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** How long output may trickle in after the shell ended; what it left running in its group is killed then. */
const DRAIN_MS = 200;
const MAX_PROGRESS_LENGTH = 100_000;

export function bashTool(env: Readonly<Record<string, string | undefined>>) {
  return defineTool({
    name: "bash",
    description:
      "Run a command with bash in the working folder and wait for its end. Gives its output and exit code. What it leaves in the background is ended with it.",
    kind: "execute",
    readOnly: false,
    input: z.strictObject({
      command: z.string().min(1),
      timeout_ms: z.int().positive().max(MAX_TIMEOUT_MS).optional().describe(`${DEFAULT_TIMEOUT_MS} if not said`),
    }),
    describe: ({ command }) => ({ title: `bash: ${(command.split("\n")[0] ?? "").slice(0, 120)}` }),
    run: ({ command, timeout_ms = DEFAULT_TIMEOUT_MS }, context) => runCommand(command, timeout_ms, env, context),
  });
}

async function runCommand(
  command: string,
  timeoutMs: number,
  env: Readonly<Record<string, string | undefined>>,
  context: ToolContext,
): Promise<ToolResult> {
  const { cwd, signal, marker } = context;
  await using group = await startGroup("bash", ["-c", command], { cwd, env, marker });
  const output = collect(group, context);
  const { pid, startTime } = group.identity;
  await context.record({ type: "process.started", pid, startTime, marker, command: command.slice(0, 1_000) });

  const how = await endOf(group, timeoutMs, signal);
  if (how === "ended") await Promise.race([group.exited, sleep(DRAIN_MS)]);
  await group.stop();
  const { exitCode, signal: killedBy } = await group.exited;
  await context.record({ type: "process.exited", pid, exitCode, signal: killedBy });

  const text = bounded(output(), MAX_RESULT_LENGTH);
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

/** Reads both streams as they come, so that a flood neither blocks the command nor fills the memory. */
function collect({ child }: ProcessGroup, context: ToolContext): () => string {
  let head = "";
  let tail = "";
  let shown = 0;
  const take = (text: string): void => {
    if (shown < MAX_PROGRESS_LENGTH) context.progress(text.slice(0, MAX_PROGRESS_LENGTH - shown));
    shown += text.length;
    const room = MAX_RESULT_LENGTH - head.length;
    head += text.slice(0, room);
    tail = (tail + text.slice(Math.max(0, room))).slice(-MAX_RESULT_LENGTH);
  };
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder("utf8");
    stream?.on("data", (bytes: Buffer) => take(decoder.write(bytes)));
    stream?.on("error", () => undefined); // destroyed on purpose when the group is stopped
  }
  return () => {
    const left = shown - head.length - tail.length;
    return left > 0 ? `${head}\n… ${left} characters left out …\n${tail}` : head + tail;
  };
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
