/** Starts a program on a pseudo-terminal, with the same interface as one with pipes. */
import { RookeryError } from "../domain/errors.ts";
import { DisposeStack } from "../stdx/index.ts";
import { createAgentProcess, programFromCommand, type AgentCommand, type AgentProcess } from "./agent-process.ts";
import { OwnedChild, streamEnded } from "./owned-child.ts";
import { requireRunnable } from "./runnable.ts";
import { sanitizeTerminalText, StderrTail } from "./stderr-tail.ts";
import { RAW_MODE_COMMAND, openTerminal } from "./terminal.ts";
import { streamTransport, type Transport } from "./transport.ts";

/** Opening the terminal makes it the shell's controlling terminal. Errors before that go to stderr, still a pipe. */
const ON_TERMINAL = `PATH="$PATH:/usr/bin:/bin" ${RAW_MODE_COMMAND} <"$1" && printf ready && exec <"$1" >"$1" 2>&1 && shift && exec "$@"`;

/**
 * Like `startAgent`, on a terminal with 200 columns that does not alter bytes. Stderr is part of the output, so
 * `onStderr` receives nothing, and the last lines that are not JSON serve as the stderr tail. Rejects with
 * `agent_unavailable`, for example if the machine has no terminals, or with `cwd_missing`.
 */
export async function startPty(options: AgentCommand): Promise<AgentProcess> {
  const { command, cwd, marker, maxMessageBytes, emptyLines } = options;
  const program = programFromCommand(command);
  await requireRunnable(program, options);
  await using opening = new DisposeStack();
  const terminal = opening.use(await openTerminal());
  const env = { TERM: "xterm-256color", ...options.env, COLUMNS: undefined, LINES: undefined };
  const owned = await OwnedChild.start("/bin/sh", ["-c", ON_TERMINAL, "sh", terminal.path, ...command], {
    cwd,
    env,
    marker,
  });
  opening.defer(() => owned.end(0).then(() => owned.sweep()));
  await waitForTerminal(owned, program);
  terminal.markOpened();
  opening.move(); // the agent owns it from here on
  const { input, output } = terminal;
  const tail = new StderrTail();
  const transport = collectTail(streamTransport(output, input, { maxMessageBytes, emptyLines }), tail);
  return createAgentProcess(owned, { input, output, tail, transport });
}

/** Resolves when the shell is on the terminal and about to exec the program. */
async function waitForTerminal({ group: { child } }: OwnedChild, program: string): Promise<void> {
  let [said, failed] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (failed += text));
  await Promise.all([streamEnded(child.stdout), streamEnded(child.stderr)]);
  if (said === "ready") return;
  const words = sanitizeTerminalText(failed).trim() || "the shell exited";
  throw new RookeryError("agent_unavailable", `cannot start ${program} on a terminal: ${words}`);
}

function collectTail(transport: Transport, tail: StderrTail): Transport {
  return {
    ...transport,
    start(sink) {
      transport.start({
        line(text) {
          if (!text.startsWith("{")) tail.push(Buffer.from(`${text}\n`));
          sink.line(text);
        },
        oversize: (head, end, bytes) => sink.oversize(head, end, bytes),
        garbled: () => sink.garbled?.(),
        ended: (error) => sink.ended(error),
        drained: () => sink.drained(),
        writeFailed: (error) => sink.writeFailed(error),
      });
    },
  };
}
