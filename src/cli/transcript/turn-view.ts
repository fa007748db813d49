/** The state of the fold in `render-event.ts`: what is known about a running turn while its events are printed. */
import type { ToolKind } from "../../domain/events.ts";
import type { Usage } from "../../domain/usage.ts";
import { formatLocalTime } from "../format.ts";
import { formatTail } from "./output-tail.ts";

export interface TurnView {
  /** True if the cursor is at the start of a line. */
  readonly atStart: boolean;
  /** Id of the message that is streaming. */
  readonly message: string | undefined;
  /** The source of the message that is not printed yet, because its block is not complete. Only for Markdown. */
  readonly open: string;
  /** What was printed last. Only for Markdown, which needs empty lines around messages. */
  readonly last: ShownPart | undefined;
  /** Running tools by id, the one that printed last at the end. */
  readonly tools: ReadonlyMap<string, TurnTool>;
  /** The calls that open permission requests are about, by request id. */
  readonly requests: ReadonlyMap<string, RequestedCall>;
  /** Open questions by request id. */
  readonly questions: ReadonlyMap<string, string>;
  /** What a person said when denying a tool, by the id of the tool. */
  readonly reasons: ReadonlyMap<string, string>;
  /** How a person allowed a tool, by the id of the tool. */
  readonly allowed: ReadonlyMap<string, "once" | "session">;
  /** Ids of the tools whose permission request was open when the turn was interrupted. */
  readonly interrupted: ReadonlySet<string>;
  /** Ids of the tools whose changes a person saw before deciding about them. */
  readonly previewed: ReadonlySet<string>;
  /** Titles of the tools that were denied in this turn. */
  readonly refused: readonly string[];
  /** Usage of this turn. Undefined until the first report. */
  readonly usage: Usage | undefined;
  readonly startedAt: string;
  /** The working directory of the session, if it is known from its log. */
  readonly folder: string | undefined;
  /** Warnings about MCP servers that were shown, in this turn or an earlier one. At most 100. */
  readonly serverWarnings: ReadonlySet<string>;
  /** When the limit that the turn waits for resets. */
  readonly parkedUntil: string | undefined;
}

export interface RequestedCall {
  readonly toolId: string;
  readonly title: string;
}

export type ShownPart = "prompt" | "message" | "lines";

export interface TurnTool {
  readonly title: string;
  readonly kind: ToolKind;
  /** When it started, without the time that a person needed to allow it. */
  readonly startedAt: string;
  /** The end of its output so far. */
  readonly tail: string;
}

export const EMPTY_TURN_VIEW: TurnView = {
  atStart: true,
  message: undefined,
  open: "",
  last: undefined,
  tools: new Map(),
  requests: new Map(),
  questions: new Map(),
  reasons: new Map(),
  allowed: new Map(),
  interrupted: new Set(),
  previewed: new Set(),
  refused: [],
  usage: undefined,
  startedAt: "",
  folder: undefined,
  serverWarnings: new Set(),
  parkedUntil: undefined,
};

/** Returns the last lines of the running tool that printed last. */
export function formatRunningOutput(
  view: TurnView,
  size: { readonly width: number; readonly lines: number },
): string[] {
  const last = [...view.tools.values()].filter(({ tail }) => tail !== "").at(-1);
  return last === undefined ? [] : formatTail(last.tail, size.width, size.lines);
}

/** Returns the label of the spinner. */
export function formatActivity(view: TurnView): string {
  if (view.parkedUntil !== undefined) return `waiting for a limit to reset, until ${formatLocalTime(view.parkedUntil)}`;
  return view.tools.size === 0 ? "thinking" : Array.from(view.tools.values(), ({ title }) => title).join(", ");
}
