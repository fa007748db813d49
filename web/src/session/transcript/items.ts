/** The items of a transcript: what a reader of a conversation sees, from oldest to newest. */
import type {
  BlobPart,
  EventOf,
  FileDiff,
  InputPart,
  Location,
  ToolKind,
  ToolOutcome,
  TurnOutcome,
} from "../../../../src/domain/events.ts";
import type { Usage } from "../../../../src/domain/usage.ts";
import type { TextParts } from "./text-parts.ts";

interface ItemBase {
  /** Unique in its transcript. It stays when older pages are added. */
  readonly key: string;
  /** The `seq` and time of the first event of the item that is loaded. */
  readonly seq: number;
  readonly at: string;
  readonly turnId: string | undefined;
}

export interface PromptItem extends ItemBase {
  readonly kind: "prompt";
  readonly input: readonly InputPart[];
  /** True if the running turn got it. */
  readonly isSteered: boolean;
}

export interface MessageItem extends ItemBase {
  readonly kind: "message";
  readonly messageId: string;
  readonly text: TextParts;
  /** `abandoned`: the agent started another message or ended the turn. Such a message does not count. */
  readonly state: "streaming" | "complete" | "abandoned";
}

export interface ThoughtItem extends ItemBase {
  readonly kind: "thought";
  readonly messageId: string;
  readonly text: TextParts;
  /** The time of the last piece. */
  readonly until: string;
}

export interface ToolItem extends ItemBase {
  readonly kind: "tool";
  readonly toolId: string;
  readonly name: string;
  readonly title: string;
  readonly toolKind: ToolKind;
  readonly input: unknown;
  readonly locations: readonly Location[] | undefined;
  /** True if a program that a tool runs called it. */
  readonly isNested: boolean;
  /** Undefined while it runs. `interrupted`: the turn ended without an outcome. */
  readonly outcome: ToolOutcome | "interrupted" | undefined;
  readonly endedAt: string | undefined;
  /** The output. While the tool runs, its end. */
  readonly text: string;
  readonly diffs: readonly FileDiff[];
  readonly blobs: readonly BlobPart[];
  /** False if the start of the call is in an older page. */
  readonly hasStart: boolean;
}

export type RequestAnswer = EventOf<"permission.resolved"> | EventOf<"question.answered">;

export interface RequestItem extends ItemBase {
  readonly kind: "request";
  readonly requestId: string;
  /** Undefined if the request is in an older page. */
  readonly request: EventOf<"permission.requested"> | EventOf<"question.asked"> | undefined;
  readonly answer: RequestAnswer | undefined;
  /** True if the turn ended or was parked before an answer. */
  readonly isObsolete: boolean;
}

export interface PlanItem extends ItemBase {
  readonly kind: "plan";
  readonly entries: EventOf<"plan.updated">["entries"];
}

export interface NoticeItem extends ItemBase {
  readonly kind: "notice";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
  /** How many times it came in a row. */
  readonly count: number;
}

/** Output of the agent's program that is not a message. */
export interface OutputItem extends ItemBase {
  readonly kind: "output";
  readonly text: string;
}

export interface SubagentItem extends ItemBase {
  readonly kind: "subagent";
  readonly childSessionId: string;
  readonly title: string;
  readonly outcome: TurnOutcome | "interrupted" | undefined;
  readonly hasStart: boolean;
}

export interface TurnEndItem extends ItemBase {
  readonly kind: "turn_end";
  readonly outcome: TurnOutcome;
  /** Undefined if the start is in an older page. */
  readonly startedAt: string | undefined;
  readonly usage: Usage | undefined;
}

export type TranscriptItem =
  | PromptItem
  | MessageItem
  | ThoughtItem
  | ToolItem
  | RequestItem
  | PlanItem
  | NoticeItem
  | OutputItem
  | SubagentItem
  | TurnEndItem;
