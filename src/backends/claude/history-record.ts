/** Schema of a record in Claude Code's session files (2.1.325). A field of the wrong type counts as missing. */
import { z } from "zod";
import type { JsonRecord } from "../../programs/index.ts";

const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const text = () => maybe(z.string());
const flag = () => maybe(z.boolean());

export const HistoryRecord = z.object({
  type: z.string(),
  subtype: text(),
  uuid: text(),
  parentUuid: text(),
  /** The record before a compaction. */
  logicalParentUuid: text(),
  sessionId: text(),
  timestamp: text(),
  cwd: text(),
  version: text(),
  /** Whether it belongs to a sub-agent. */
  isSidechain: flag(),
  /** Whether Claude Code wrote it for the model, not the user. */
  isMeta: flag(),
  isCompactSummary: flag(),
  isApiErrorMessage: flag(),
  message: maybe(
    z.object({
      id: text(),
      model: text(),
      content: z.unknown().optional(),
      usage: z.unknown().optional(),
      stop_reason: text(),
    }),
  ),
  toolUseResult: z.unknown().optional(),
  attachment: maybe(z.object({ type: text(), prompt: z.unknown().optional() })),
  summary: text(),
  aiTitle: text(),
  customTitle: text(),
});
export type HistoryRecord = z.infer<typeof HistoryRecord>;

/** Returns undefined if it has no type. */
export function parseHistoryRecord(record: JsonRecord): HistoryRecord | undefined {
  return HistoryRecord.safeParse(record).data;
}

/** Types of records that are not part of the conversation. */
const OTHER_TYPES = new Set([
  "agent-name",
  "ai-title",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "atis-latch",
  "attachment",
  "attribution-snapshot",
  "content-replacement",
  "cost-state",
  "custom-title",
  "file-history-delta",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "result",
  "speculation-accept",
  "summary",
  "tag",
  "task-summary",
  "tools-used",
  "worktree-state",
]);

const CONVERSATION_TYPES = new Set(["user", "assistant", "system"]);

export function isKnownType(type: string): boolean {
  return CONVERSATION_TYPES.has(type) || OTHER_TYPES.has(type);
}
