/** The first lines of a new conversation. */
import type { Paint } from "../../paint.ts";
import { clipStyled } from "../../tui/styled-text.ts";
import { formatStatusLine } from "../../tui/status-line.ts";

const HINTS = [
  { text: "/ commands", priority: 9 },
  { text: "@ files", priority: 6 },
  { text: "! shell", priority: 5 },
  { text: "Esc interrupts", priority: 7 },
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

/** Two lines: what is missing, and what to do instead. */
export function formatNotReady(agent: string, missing: string): string {
  const instead = "choose another agent with /agent, or quit and try Rookery without a key: rookery demo";
  return `the agent ${agent} is not ready: ${missing}\n${instead}`;
}
