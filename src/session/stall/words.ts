/** What is said of a turn that came to a stop: by which clock, what was last seen, and what to do. */
import type { EventBody } from "../../domain/index.ts";
import { span } from "../patience.ts";

export interface Stop {
  readonly clock: "model" | "tool" | "progress";
  readonly limitMs: number;
  readonly silentMs: number;
  readonly last: EventBody | undefined;
  /** Titles of those that run. */
  readonly tools: readonly string[];
  readonly agent: string;
}

export function stallWords({ clock, limitMs, silentMs, last, tools, agent }: Stop): string {
  const what = {
    model: "nothing came while the model should speak",
    tool: "nothing came while a tool ran",
    progress: "nothing came that moves the turn on",
  }[clock];
  const seen = last === undefined ? "nothing was seen of it at all" : `last seen: ${lastWords(last)}`;
  const running = tools.length === 0 ? "" : `; running: ${tools.map((title) => short(title)).join(", ")}`;
  const key = `stall.${clock}`;
  return (
    `${agent} stalled: ${what} for ${span(silentMs)} (${seen}${running}), and it was interrupted; ` +
    `where it needs longer, raise ${key} of agents.${agent} in rookery.toml (now ${limitMs / 1000} seconds; false is for ever)`
  );
}

function lastWords(body: EventBody): string {
  switch (body.type) {
    case "message.delta":
    case "message.completed":
      return `it said "${ending(body.text)}"`;
    case "thought.delta":
      return `it thought "${ending(body.text)}"`;
    case "output.text":
      return `it printed "${ending(body.text)}"`;
    case "tool.started":
      return `tool ${short(body.title || body.name)} started`;
    case "tool.updated":
      return body.text === undefined ? "news of a tool" : `a tool printed "${ending(body.text)}"`;
    case "tool.ended":
      return `a tool ended (${body.outcome})`;
    case "notice":
      return `notice "${short(body.message)}"`;
    case "agent.raw":
      return "an event of its own";
    default: // its name says it
      return body.type;
  }
}

const LENGTH = 60;

function short(text: string): string {
  const line = oneLine(text);
  return line.length <= LENGTH ? line : `${line.slice(0, LENGTH).toWellFormed()}…`;
}

function ending(text: string): string {
  const line = oneLine(text.slice(-4 * LENGTH));
  return line.length <= LENGTH ? line : `…${line.slice(-LENGTH).toWellFormed()}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
