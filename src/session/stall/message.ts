/** Formats the message for a stalled turn: which time limit, what was last seen, and what to do. */
import type { EventBody } from "../../domain/index.ts";
import { formatWaitTime } from "../time-limits.ts";

export interface StallDetails {
  readonly clock: "model" | "tool" | "progress";
  readonly limitMs: number;
  readonly silentMs: number;
  readonly last: EventBody | undefined;
  /** Titles of the running tools. */
  readonly tools: readonly string[];
  readonly agent: string;
}

export function formatStall({ clock, limitMs, silentMs, last, tools, agent }: StallDetails): string {
  const what = {
    model: "the model sent nothing",
    tool: "a running tool printed nothing",
    progress: "the turn made no progress",
  }[clock];
  const seen = last === undefined ? "it has sent no event" : `last event: ${describeLastEvent(last)}`;
  const running = tools.length === 0 ? "" : `; running: ${tools.map((title) => shortenStart(title)).join(", ")}`;
  const key = `stall.${clock}`;
  return (
    `${agent} stalled: ${what} for ${formatWaitTime(silentMs)} (${seen}${running}), so the turn was stopped; ` +
    `if it needs more time, raise ${key} of agents.${agent} in rookery.toml (now ${limitMs / 1000} seconds; false means no limit)`
  );
}

function describeLastEvent(body: EventBody): string {
  switch (body.type) {
    case "message.delta":
    case "message.completed":
      return `it said "${shortenEnd(body.text)}"`;
    case "thought.delta":
      return `it thought "${shortenEnd(body.text)}"`;
    case "output.text":
      return `it printed "${shortenEnd(body.text)}"`;
    case "tool.started":
      return `tool ${shortenStart(body.title || body.name)} started`;
    case "tool.updated":
      return body.text === undefined ? "an update of a tool" : `a tool printed "${shortenEnd(body.text)}"`;
    case "tool.ended":
      return `a tool ended (${body.outcome})`;
    case "notice":
      return `notice "${shortenStart(body.message)}"`;
    case "agent.raw":
      return "an event that only the agent understands";
    default: // the type is descriptive enough
      return body.type;
  }
}

const MAX_QUOTE_LENGTH = 60;

function shortenStart(text: string): string {
  const line = oneLine(text);
  return line.length <= MAX_QUOTE_LENGTH ? line : `${line.slice(0, MAX_QUOTE_LENGTH).toWellFormed()}…`;
}

function shortenEnd(text: string): string {
  const line = oneLine(text.slice(-4 * MAX_QUOTE_LENGTH));
  return line.length <= MAX_QUOTE_LENGTH ? line : `…${line.slice(-MAX_QUOTE_LENGTH).toWellFormed()}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
