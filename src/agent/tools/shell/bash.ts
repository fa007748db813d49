/** Runs a shell command in the working folder, in a process group that ends with the call, or in the background. */
import { z } from "zod";
import type { ToolResult } from "../../../domain/index.ts";
import { DisposeStack, deferred, killMarked, startGroup, type ProcessGroup } from "../../../stdx/index.ts";
import { defineTool, ok, systemText, type CallContext } from "../tool.ts";
import { Ends, drain, readBoth } from "./output.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const TITLE_LENGTH = 120;
const MAX_PROGRESS_LENGTH = 100_000;

export const bash = defineTool({
  name: "bash",
  description:
    "Run a command with bash in the working folder and wait for its end. Gives its output and exit code; what it leaves running is ended with it. With background: true it goes on running, and you get a handle at once, for bash_output, bash_input and bash_kill: for servers and watchers.",
  kind: "execute",
  readOnly: false,
  timeoutMs: Infinity, // it has its own
  input: z.strictObject({
    command: systemText(),
    timeout_ms: z
      .int()
      .positive()
      .max(MAX_TIMEOUT_MS)
      .optional()
      .describe(`${DEFAULT_TIMEOUT_MS} if not said; not for the background`),
    background: z.boolean().optional().describe("go on without waiting for its end"),
  }),
  describe: ({ command, background }) => ({
    title: `bash${background === true ? " in the background" : ""}: ${shortened(command)}`,
  }),
  async run({ command, timeout_ms = DEFAULT_TIMEOUT_MS, background = false }, context) {
    if (!background) return runCommand(command, timeout_ms, context);
    const handle = await context.background.start(command, context);
    return ok(`started ${handle}: see what it prints with bash_output`);
  },
});

/** For a line of its own; what is left out is said. */
function shortened(command: string): string {
  const [first = "", ...more] = command.trim().split("\n");
  const line = first.length > TITLE_LENGTH ? `${first.slice(0, TITLE_LENGTH).toWellFormed()}…` : first;
  return more.length === 0 ? line : `${line} … (+${more.length} ${more.length === 1 ? "line" : "lines"})`;
}

async function runCommand(command: string, timeoutMs: number, context: CallContext): Promise<ToolResult> {
  const { cwd, env, signal, marker } = context;
  const group = await startGroup("bash", ["-c", command], { cwd, env, marker });
  await using running = new DisposeStack();
  running.defer(() => killMarked(group.marker)); // what left the group
  running.use(group);
  const output = new Ends();
  readBoth(group, (text) => {
    if (output.length < MAX_PROGRESS_LENGTH) {
      context.progress(text.slice(0, MAX_PROGRESS_LENGTH - output.length).toWellFormed());
    }
    output.add(text);
  });
  const { pid, startTime } = group.identity;
  const shown = command.slice(0, 1_000).toWellFormed();
  await context.record({ type: "process.started", pid, startTime, marker, command: shown });

  const how = await endOf(group, timeoutMs, signal);
  if (how === "ended") await drain(group, output);
  await group.stop();
  const { exitCode, signal: killedBy } = await group.exited;
  await context.record({ type: "process.exited", pid, exitCode, signal: killedBy });

  const { text } = output;
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
