/** The first lines of a new conversation. */
import type { Paint } from "../../paint.ts";
import { clipStyled } from "../../tui/styled-text.ts";
import { formatStatusLine } from "../../tui/status-line.ts";

/** Without Esc, which the line of the running turn explains. */
const HINTS = [
  { text: "/ commands", priority: 9 },
  { text: "@ files", priority: 6 },
  { text: "! shell", priority: 5 },
  { text: "Shift-Tab permissions", priority: 4 },
  { text: "Ctrl-D quits", priority: 8 },
  { text: "/help", priority: 10 },
];

/** The lines fit the width. */
export function renderGreeting(version: string, { width, paint }: { width: number; paint: Paint }): string[] {
  return [
    clipStyled(`${paint("bold", "Rookery")} ${paint("dim", version)}`, width),
    paint("dim", formatStatusLine(HINTS, width)),
  ];
}

/** Says what the chosen agent lacks. */
export function formatNotReady(agent: string, missing: string): string {
  return `the agent ${agent} is not ready: ${missing}\n/agent lists the others`;
}

/** The three ways to start if no agent is ready. `missing`: what the default agent needs. */
export function formatNoneReady(missing: string): string {
  return [
    "No agent is ready yet. Quit with Ctrl-D, then one of:",
    `  ${/: (export .+)$/.exec(missing)?.[1] ?? missing}`,
    "  rookery agents    lists the programs to install or to log in to",
    "  rookery demo      shows a whole turn without a key",
  ].join("\n");
}
