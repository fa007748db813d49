/** Schemas of Codex's session files, which Codex calls rollouts (0.166.0). A field of the wrong type counts as missing. */
import { z } from "zod";
import type { JsonRecord } from "../../programs/index.ts";

const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const text = () => maybe(z.string());

/** A line. Events, and items of the model's conversation, are payloads with a type of their own. */
export const RolloutLine = z.object({
  timestamp: text(),
  type: z.string(),
  payload: maybe(z.looseObject({ type: text() })),
});
export type RolloutLine = z.infer<typeof RolloutLine>;

/** Returns undefined if it has no type. */
export function parseRolloutLine(record: JsonRecord): RolloutLine | undefined {
  return RolloutLine.safeParse(record).data;
}

export const SessionMeta = z.object({
  cwd: z.string(),
  cli_version: text(),
  timestamp: text(),
  /** An object for the session of a sub-agent. */
  source: z.unknown().optional(),
});
export type SessionMeta = z.infer<typeof SessionMeta>;

export const ItemCompleted = z.object({ item: z.looseObject({ type: z.string() }) });

export const UserMessageItem = z.object({
  type: z.literal("UserMessage"),
  content: z.array(z.object({ type: z.string(), text: text(), image_url: text() })),
});

const changeFields = { content: text(), unified_diff: text(), move_path: text() };
export const FileChangeItem = z.object({
  id: z.string(),
  status: z.string(),
  changes: z.record(z.string(), z.object({ type: z.enum(["add", "delete", "update"]), ...changeFields })),
});

export const CommandItem = z.object({
  id: z.string(),
  command: z.array(z.string()),
  cwd: text(),
  status: z.string(),
  aggregated_output: text(),
  exit_code: maybe(z.number()),
});

const count = () => z.number().nonnegative().catch(0);
const totals = z
  .object({
    total_tokens: count(),
    input_tokens: count(),
    cached_input_tokens: count(),
    cache_write_input_tokens: count(),
    output_tokens: count(),
    reasoning_output_tokens: count(),
  })
  .transform((each) => ({
    totalTokens: each.total_tokens,
    inputTokens: each.input_tokens,
    cachedInputTokens: each.cached_input_tokens,
    cacheWriteInputTokens: each.cache_write_input_tokens,
    outputTokens: each.output_tokens,
    reasoningOutputTokens: each.reasoning_output_tokens,
  }));
export const TokenCount = z.object({
  info: z.object({ total_token_usage: totals, last_token_usage: totals, model_context_window: maybe(z.number()) }),
});

/** A call or its result, in files from before items (0.40). */
export const CallItem = z.object({
  type: z.string(),
  call_id: z.string(),
  name: text(),
  arguments: text(),
  input: text(),
  output: z.unknown().optional(),
});

const KNOWN_TYPES = new Set([
  "session_meta",
  "event_msg",
  "response_item",
  "turn_context",
  "token_usage_record",
  "world_state",
  "compacted",
  "ghost_snapshot",
]);

export function isKnownLineType(type: string): boolean {
  return KNOWN_TYPES.has(type);
}
