/** Validates updates and permission requests from an ACP agent and extracts the fields that Rookery uses. */
import { z } from "zod";
import { boundFileDiff } from "../../domain/file-diff.ts";
import { describeZodError, type Location, type ToolKind } from "../../domain/index.ts";
import { ToolKind as KINDS } from "../../domain/events.ts";

const MAX_ID_LENGTH = 1_024;
const MAX_TITLE_LENGTH = 4_096;
const MAX_PATH_LENGTH = 8_192;

const id = z.string().max(MAX_ID_LENGTH);
const path = z.string().max(MAX_PATH_LENGTH);
const title = z.string().transform((text) => text.slice(0, MAX_TITLE_LENGTH));

/** A content block as text; unknown kinds appear as their name in brackets. */
const ContentText = z.lazy(() =>
  z.union([
    z.object({ type: z.literal("text"), text: z.string() }).transform(({ text }) => text),
    z
      .object({ type: z.literal("resource_link"), name: title, uri: path })
      .transform(({ name, uri }) => `[${name}](${uri})`),
    z
      .object({
        type: z.literal("resource"),
        resource: z.object({ uri: path.optional(), text: z.string().optional() }),
      })
      .transform(({ resource: { uri, text } }) => text ?? `[${uri ?? "resource"}]`),
    z
      .object({ type: title.refine((type) => !["text", "resource_link", "resource"].includes(type)) })
      .transform(({ type }) => `[${type}]`),
  ]),
);

const Chunk = z.lazy(() => z.object({ content: ContentText, messageId: id.nullish() }));

const ToolContent = z.lazy(() =>
  z.union([
    z.object({ type: z.literal("content"), content: ContentText }).transform(({ content }) => ({ text: content })),
    z
      .object({ type: z.literal("diff"), path, oldText: z.string().nullish(), newText: z.string() })
      .transform(({ path, oldText, newText }) => ({
        diff: boundFileDiff({ path, before: oldText ?? null, after: newText }),
      })),
    z.object({ type: title.refine((type) => type !== "content" && type !== "diff") }).transform(() => ({})),
  ]),
);

const ToolCall = z.lazy(() =>
  z.object({
    toolCallId: id.min(1),
    title: title.nullish(),
    name: title.nullish(),
    kind: title.nullish().transform(toToolKind),
    status: title.nullish(),
    rawInput: z.unknown().optional(),
    rawOutput: z.unknown().optional(),
    locations: z.array(z.object({ path, line: z.unknown().optional() }).transform(toLocation)).nullish(),
    content: z.array(ToolContent).nullish(),
  }),
);

/** Unknown statuses and priorities fall back, so one of them does not lose the plan. */
const PlanEntry = z.lazy(() =>
  z.object({
    content: z.string(),
    status: z.enum(["pending", "in_progress", "completed"]).catch("pending"),
    priority: z.enum(["high", "medium", "low"]).optional().catch(undefined),
  }),
);

const tokens = z.number().nonnegative().transform(Math.round).pipe(z.int());
const Usage = z.lazy(() =>
  z.object({
    used: tokens,
    size: tokens,
    cost: z.object({ amount: z.number().nonnegative(), currency: title }).nullish(),
  }),
);

export type ParsedToolCall = z.infer<typeof ToolCall>;
export type ParsedUsage = z.infer<typeof Usage>;

export type ParsedUpdate =
  | { readonly kind: "message" | "thought"; readonly text: string; readonly messageId: string | undefined }
  | { readonly kind: "tool"; readonly call: ParsedToolCall }
  | { readonly kind: "plan"; readonly entries: readonly z.infer<typeof PlanEntry>[] }
  | { readonly kind: "usage"; readonly usage: ParsedUsage }
  /** The user's own message, which the log already has. */
  | { readonly kind: "echo" }
  /** Irrelevant to a turn, or of an unknown kind. */
  | { readonly kind: "other" }
  | { readonly kind: "invalid"; readonly problem: string };

export function parseUpdate(update: unknown): ParsedUpdate {
  const { sessionUpdate: type } = (update ?? {}) as { sessionUpdate?: unknown };
  switch (type) {
    case "agent_message_chunk":
    case "agent_thought_chunk": {
      const kind = type === "agent_message_chunk" ? "message" : "thought";
      return parseWith(Chunk, update, type, ({ content, messageId }) => ({
        kind,
        text: content,
        messageId: messageId ?? undefined,
      }));
    }
    case "user_message_chunk":
      return { kind: "echo" };
    case "tool_call":
    case "tool_call_update":
      return parseWith(ToolCall, update, type, (call) => ({ kind: "tool", call }));
    case "plan":
      return parseWith(z.object({ entries: z.array(PlanEntry) }), update, type, ({ entries }) => ({
        kind: "plan",
        entries,
      }));
    case "usage_update":
      return parseWith(Usage, update, type, (usage) => ({ kind: "usage", usage }));
    default:
      return typeof type === "string"
        ? { kind: "other" }
        : { kind: "invalid", problem: "sessionUpdate must be a string" };
  }
}

/** Returns undefined if the value is not a valid tool call. */
export function parseToolCall(toolCall: unknown): ParsedToolCall | undefined {
  return ToolCall.safeParse(toolCall).data;
}

function parseWith<T>(
  schema: z.ZodType<T>,
  update: unknown,
  type: string,
  to: (data: T) => ParsedUpdate,
): ParsedUpdate {
  const { success, data, error } = schema.safeParse(update);
  return success ? to(data) : { kind: "invalid", problem: `${type}: ${describeZodError(error)}` };
}

function toToolKind(kind: string | null | undefined): ToolKind | undefined {
  return kind == null ? undefined : (KINDS.safeParse(kind).data ?? "other");
}

function toLocation({ path, line }: { path: string; line?: unknown }): Location {
  return { path, ...(Number.isSafeInteger(line) && (line as number) > 0 && { line: line as number }) };
}
