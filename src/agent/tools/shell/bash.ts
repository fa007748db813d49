/**
 * The `bash` tool: runs a shell command in the working directory, in a process group that ends with the call, or in the
 * background.
 */
import { z } from "zod";
import type { ToolResult } from "../../../domain/index.ts";
import {
  DisposeStack,
  OutputSampler,
  deferred,
  killMarked,
  startGroup,
  type ProcessGroup,
} from "../../../stdx/index.ts";
import { defineTool, okResult, textWithoutNul, type CodingToolContext } from "../tool.ts";
import { HeadAndTailBuffer, drainOutput, readStreams } from "./command-output.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const MAX_TITLE_LENGTH = 120;

export const bashTool = defineTool({
  name: "bash",
  description:
    "Run a command with bash in the working directory and wait for it to end. Returns its output and exit code, and kills processes that it leaves running. With background: true (for servers and watchers), the command keeps running, and you immediately get a handle for bash_output, bash_input and bash_kill.",
  kind: "execute",
  readOnly: false,
  timeoutMs: Infinity, // limited by timeout_ms
  input: z.strictObject({
    command: textWithoutNul(),
    timeout_ms: z
      .int()
      .positive()
      .max(MAX_TIMEOUT_MS)
      .optional()
      .describe(`default: ${DEFAULT_TIMEOUT_MS}; ignored for background commands`),
    background: z.boolean().optional().describe("return without waiting for the command to end"),
  }),
  describe: ({ command, background }) => ({
    title: `bash${background === true ? " in the background" : ""}: ${formatCommandTitle(command)}`,
  }),
  preview({ background = false }, context) {
    if (background) context.background.requireRoom();
    return {};
  },
  async run({ command, timeout_ms = DEFAULT_TIMEOUT_MS, background = false }, context) {
    if (!background) return runCommand(command, timeout_ms, context);
    const handle = await context.background.start(command, context);
    return okResult(`started ${handle}: get its output with bash_output`);
  },
});

/** Shortens a command to one line, and says what is missing. */
function formatCommandTitle(command: string): string {
  const [first = "", ...more] = command.trim().split("\n");
  const line = first.length > MAX_TITLE_LENGTH ? `${first.slice(0, MAX_TITLE_LENGTH).toWellFormed()}…` : first;
  return more.length === 0 ? line : `${line} … (+${more.length} ${more.length === 1 ? "line" : "lines"})`;
}

async function runCommand(command: string, timeoutMs: number, context: CodingToolContext): Promise<ToolResult> {
  const { cwd, env, signal, marker } = context;
  const group = await startGroup("bash", ["-c", command], { cwd, env, marker });
  await using running = new DisposeStack();
  running.defer(() => killMarked(group.marker)); // kills processes that left the group
  running.use(group);
  const output = new HeadAndTailBuffer();
  using sampler = new OutputSampler({ emit: (text) => context.progress(text) });
  readStreams(group, (text) => {
    sampler.add(text);
    output.add(text);
  });
  const { pid, startTime } = group.identity;
  const commandText = command.slice(0, 1_000).toWellFormed();
  await context.record({ type: "process.started", pid, startTime, marker, command: commandText });

  const end = await waitForEnd(group, timeoutMs, signal);
  if (end === "ended") await drainOutput(group, output);
  await group.stop();
  const { exitCode, signal: killedBy } = await group.exited;
  await context.record({ type: "process.exited", pid, exitCode, signal: killedBy });

  const { text } = output;
  switch (end) {
    case "cancelled":
      return { outcome: "cancelled", text: `${text}\n[cancelled]` };
    case "timed_out":
      return { outcome: "timed_out", text: `${text}\n[stopped after ${timeoutMs} ms]` };
    case "ended": {
      const status = exitCode === null ? `[killed by ${killedBy ?? "a signal"}]` : `[exit code ${exitCode}]`;
      return { outcome: exitCode === 0 ? "ok" : "failed", text: text === "" ? status : `${text}\n${status}` };
    }
  }
}

type BashEnd = "ended" | "timed_out" | "cancelled";

async function waitForEnd(group: ProcessGroup, timeoutMs: number, signal: AbortSignal): Promise<BashEnd> {
  if (signal.aborted) return "cancelled";
  const end = deferred<BashEnd>();
  const cancel = (): void => end.resolve("cancelled");
  const timer = setTimeout(() => end.resolve("timed_out"), timeoutMs);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([end.promise, group.ended.then(() => "ended" as const)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}
