/** Runs a command that the person typed after `!`, and shows its output. */
import { formatCount } from "../../format.ts";
import { stripControls } from "../../sanitize.ts";
import { runCommand } from "../../../worktrees/run-command.ts";
import type { ChatHost } from "../host.ts";
import type { ShellOutput } from "./kept-outputs.ts";

const SHELL_TIMEOUT_MS = 10 * 60_000;
/** Lines of output that are printed. */
const MAX_SHOWN_LINES = 200;

/** The shell of a chat. It runs one command at a time. */
export class ChatShell {
  #running: AbortController | undefined;

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Ends the running command. */
  end(): void {
    this.#running?.abort();
  }

  /** Resolves with the output, or with undefined if there is none or the person has ended the command. */
  async run(chat: ChatHost, command: string): Promise<ShellOutput | undefined> {
    const running = new AbortController();
    this.#running = running;
    try {
      return await runShellCommand(chat, command, running.signal);
    } catch (error) {
      if (!running.signal.aborted) throw error;
      chat.notice("ended the command", "dim");
      return undefined;
    } finally {
      this.#running = undefined;
    }
  }
}

async function runShellCommand(chat: ChatHost, command: string, signal: AbortSignal): Promise<ShellOutput | undefined> {
  let output = "";
  const { exitCode, timedOut } = await runCommand({
    command,
    cwd: chat.cwd,
    env: chat.io.env,
    marker: `rookery-chat-${process.pid}`,
    timeoutMs: SHELL_TIMEOUT_MS,
    onOutput: (text) => void (output += text),
    signal,
  });
  const text = stripControls(output).trimEnd();
  const lines = text === "" ? [] : text.split("\n");
  const shown = lines.slice(-MAX_SHOWN_LINES);
  const omitted = lines.length - shown.length;
  const end = timedOut ? "timed out" : `exit code ${exitCode ?? "unknown"}`;
  const hasFailed = timedOut || exitCode !== 0;
  chat.echo(command, "$");
  const printed = [
    ...(omitted > 0 ? [`… ${formatCount(omitted)} earlier lines`] : []),
    ...shown,
    ...(hasFailed ? [end] : []),
  ];
  chat.notice(printed.length === 0 ? "no output" : printed.join("\n"), "dim");
  return text === "" ? undefined : { command, text, end };
}
