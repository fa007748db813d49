/** `/help`. */
import { formatColumns } from "../../format.ts";
import type { Paint } from "../../paint.ts";
import { wrapStyled } from "../../tui/styled-text.ts";
import type { ChatHost } from "../host.ts";
import type { SlashCommand } from "../slash-commands.ts";

export async function showHelp(chat: ChatHost, commands: readonly SlashCommand[]): Promise<void> {
  const { paint, size } = chat.surface;
  chat.print(renderChatHelp(commands, { width: size.columns, paint }));
}

/** The lines fit the width. */
export function renderChatHelp(
  commands: readonly Pick<SlashCommand, "name" | "argument" | "summary">[],
  style: { readonly width: number; readonly paint: Paint },
): string[] {
  const { width, paint } = style;
  const rows = commands.map(({ name, argument, summary }) => [
    `/${name}${argument === undefined ? "" : ` ${argument}`}`,
    summary,
  ]);
  const more = "Type / to complete these, and the commands that the agent itself has.";
  return [
    paint("bold", "Commands"),
    ...renderHelpRows(rows, style),
    "",
    paint("bold", "Keys"),
    ...renderHelpRows(KEY_HELP, style),
    "",
    paint("dim", more),
  ].flatMap((line) => wrapStyled(line, width));
}

function renderHelpRows(
  rows: readonly (readonly string[])[],
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string[] {
  const lines = formatColumns(rows, width).trimEnd().split("\n");
  return lines.map((line) => {
    const [name = ""] = rows.find(([one = ""]) => line === one || line.startsWith(`${one}  `)) ?? [];
    return name === "" ? line : paint("cyan", name) + line.slice(name.length);
  });
}

const KEY_HELP = [
  ["@", "complete the name of a file or a directory"],
  ["!command", "run a command; its output goes with your next prompt"],
  ["Backspace", "on an empty input: drop that output"],
  ["Enter", "send; while the agent works, for its next step"],
  ["Alt-Enter", "send; while the agent works, after its turn"],
  ["Ctrl-J or \\ Enter", "a new line"],
  ["Up", "earlier prompts"],
  ["Esc", "interrupt; queued messages return to the input"],
  ["Shift-Tab", "switch permissions between ask and read"],
  ["Ctrl-L", "clear the screen and draw it again"],
  ["Ctrl-C", "clear the input, or interrupt; again to quit"],
  ["Ctrl-D", "quit, if the input is empty"],
];
