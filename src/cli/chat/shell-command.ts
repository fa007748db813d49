/** Runs a command that the person typed after `!`, shows its output, and offers it as context. */
import { formatCount } from "../format.ts";
import { stripControls } from "../sanitize.ts";
import { runCommand } from "../../worktrees/run-command.ts";
import type { ChatHost } from "./host.ts";

const SHELL_TIMEOUT_MS = 10 * 60_000;
/** Lines of output that are printed. */
const MAX_SHOWN_LINES = 200;
/** Characters of output that are offered as context. */
const MAX_CONTEXT_LENGTH = 30_000;

export async function runShellCommand(chat: ChatHost, command: string, signal: AbortSignal): Promise<void> {
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
  const lines = text.split("\n");
  const shown = lines.slice(-MAX_SHOWN_LINES);
  const omitted = lines.length - shown.length;
  const end = timedOut ? "timed out" : `exit code ${exitCode ?? "unknown"}`;
  const head = [`$ ${command}`, ...(omitted > 0 ? [`… ${formatCount(omitted)} earlier lines`] : [])];
  chat.notice([...head, ...(text === "" ? [] : shown), end].join("\n"), "dim");
  if (text === "" || !(await chat.keys.confirm("Add the output to your next prompt?"))) return;
  chat.surface.editor.paste(`Output of \`${command}\` (${end}):\n\n${text.slice(-MAX_CONTEXT_LENGTH)}\n`);
}
