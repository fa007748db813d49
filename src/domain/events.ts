/**
 * The events of a session: a closed union, as schemas from which the types are inferred. The schemas are built on
 * first use, because most runs of the command parse none.
 */
import { z } from "zod";
import { AgentDefinition } from "./agent-table.ts";
import { BUDGET_HOLDERS, BUDGET_UNITS } from "./budget.ts";
import { Budget } from "./budget-schema.ts";
import { MCP_STATUSES, PERMISSION_POLICIES } from "./enums.ts";

export const ToolKind = z.enum([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "fetch",
  "think",
  "ask",
  "other",
]);
export type ToolKind = z.infer<typeof ToolKind>;

export const ToolOutcome = z.enum(["ok", "failed", "denied", "cancelled", "timed_out", "unknown"]);
export type ToolOutcome = z.infer<typeof ToolOutcome>;

export const Location = z.lazy(() => z.strictObject({ path: z.string(), line: z.int().positive().optional() }));
export type Location = z.infer<typeof Location>;

/**
 * A change of one file, proposed or made: its text before and after. `before` is null if the file is new, `after` if it
 * is deleted. `line` is the line where both texts start, if they are an excerpt with all changes. With `truncated`, the
 * texts do not have the whole change, and a text that is null is unknown.
 */
export const FileDiff = z.lazy(() =>
  z.strictObject({
    path: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    line: z.int().positive().optional(),
    truncated: z.boolean().optional(),
  }),
);
export type FileDiff = z.infer<typeof FileDiff>;

const blobPart = () =>
  z.strictObject({ type: z.literal("blob"), hash: z.string(), mediaType: z.string(), name: z.string().optional() });
/** Bytes that are stored beside the log. */
export const BlobPart = z.lazy(blobPart);
export type BlobPart = z.infer<typeof BlobPart>;

export const InputPart = z.lazy(() =>
  z.discriminatedUnion("type", [z.strictObject({ type: z.literal("text"), text: z.string() }), blobPart()]),
);
export type InputPart = z.infer<typeof InputPart>;

export const PermissionPolicy = z.enum(PERMISSION_POLICIES);
export type PermissionPolicy = z.infer<typeof PermissionPolicy>;

export const TurnOutcome = z.lazy(() =>
  z.discriminatedUnion("status", [
    z.strictObject({ status: z.literal("done"), stopReason: z.string().optional() }),
    z.strictObject({ status: z.literal("cancelled") }),
    z.strictObject({ status: z.literal("failed"), code: z.string(), message: z.string() }),
    z.strictObject({ status: z.literal("stalled"), clock: z.string(), message: z.string() }),
  ]),
);
export type TurnOutcome = z.infer<typeof TurnOutcome>;

const toolCall = () => z.strictObject({ toolId: z.string(), name: z.string(), input: z.unknown() });
const callOfMessage = () =>
  z.strictObject({ toolId: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) });
const resultOfMessage = () =>
  z.strictObject({
    toolId: z.string(),
    text: z.string(),
    /** Default: `ok`. */
    outcome: ToolOutcome.optional(),
    blobs: z.array(blobPart()).optional(),
  });
const conversationMessage = () =>
  z.union([
    z.strictObject({ role: z.literal("user"), text: z.string() }),
    z.strictObject({ role: z.literal("user"), parts: z.array(InputPart) }),
    z.strictObject({
      role: z.literal("assistant"),
      text: z.string(),
      /** For people. No model gets it, because model APIs take only thoughts that they signed. */
      thought: z.string().optional(),
      toolCalls: z.array(callOfMessage()).optional(),
    }),
    /** The results of all calls of the message before it. */
    z.strictObject({ role: z.literal("tool"), results: z.array(resultOfMessage()) }),
  ]);
/** A message of a conversation that a caller passes. */
export const ConversationMessage = z.lazy(conversationMessage);
export type ConversationMessage = z.infer<typeof ConversationMessage>;

const planEntry = () =>
  z.strictObject({
    content: z.string(),
    status: z.enum(["pending", "in_progress", "completed"]),
    priority: z.enum(["high", "medium", "low"]).optional(),
  });
const tokens = () => z.int().nonnegative();

/** The fields of each event type, without the envelope. */
export const eventBodies = lazily(() => ({
  "session.opened": z.strictObject({
    cwd: z.string(),
    backend: z.string(),
    model: z.string().optional(),
    /** True if a person chose the model. If not set, the agent's configuration did. */
    modelChosen: z.boolean().optional(),
    permissions: PermissionPolicy,
    title: z.string().optional(),
    parent: z.string().optional(),
    /** The depth below the session that a person started. Set if the parent's agent started this session. */
    depth: z.int().positive().optional(),
    /** The task that the session belongs to. */
    task: z.string().optional(),
    /** The host that has the working directory, if several hosts share the store. */
    host: z.string().optional(),
    /** The program's own ID of the session that this one was forked from. */
    forkOf: z.string().optional(),
    reopened: z.boolean().optional(),
    /**
     * The following events are copied from another session. The copy is complete when the session is opened again,
     * and unusable before that.
     */
    copying: z.boolean().optional(),
  }),
  "session.closed": z.strictObject({ reason: z.string().optional() }),
  "agent.switched": z.strictObject({ from: z.string(), to: z.string() }),
  /** A program defined an agent for this session. The definition has the texts of its prompts, and no secrets. */
  "agent.defined": z.strictObject({ definition: AgentDefinition }),
  /**
   * The agent's program has connected its own session: a new one, an earlier one, or a new one that got the earlier
   * conversation as text.
   */
  "agent.connected": z.strictObject({
    /**
     * The program's own session ID. Missing if the program has none or has not reported it yet; in the latter case,
     * another event follows.
     */
    nativeId: z.string().optional(),
    /** `adopted`: the session existed in the program before, and the log has its conversation from there. */
    how: z.enum(["new", "resumed", "loaded", "forked", "handed_over", "adopted"]),
    /** The version of the program, if it reports one. */
    version: z.string().optional(),
  }),
  "turn.started": z.strictObject({ input: z.array(InputPart), inputId: z.string().optional() }),
  "turn.ended": z.strictObject({ outcome: TurnOutcome }),
  /** A person asked from another process to cancel this turn. The process that drives the session ends it. */
  "turn.cancel_requested": z.strictObject({ reason: z.string().optional() }),
  /** The agent's account has reached a usage limit. `resetsAt` is set if the provider reports it. */
  "limit.reached": z.strictObject({ message: z.string(), resetsAt: z.iso.datetime().optional() }),
  /** The turn waits, even if no process has the session open, and continues after `until`. */
  "turn.parked": z.strictObject({ until: z.iso.datetime(), message: z.string() }),
  "turn.continued": z.strictObject({ message: z.string().optional() }),
  /**
   * `steer`: for the next step of the running turn, if its agent supports that. Otherwise the input starts a new
   * turn.
   */
  "input.queued": z.strictObject({
    inputId: z.string(),
    input: z.array(InputPart),
    deliver: z.enum(["steer", "follow_up"]).optional(),
  }),
  /** The running turn got the input before its next model call. */
  "input.delivered": z.strictObject({ inputId: z.string(), input: z.array(InputPart) }),
  /** A person withdrew a queued input before an agent received it. The agent never receives it. */
  "input.withdrawn": z.strictObject({ inputId: z.string() }),
  /** The agent continues from these messages only. The log keeps the earlier conversation, if there is one. */
  "conversation.replaced": z.strictObject({
    messages: z.array(conversationMessage()),
  }),
  "message.delta": z.strictObject({ messageId: z.string(), text: z.string() }),
  /** A complete message of the agent. A message with deltas but without this event was abandoned and does not count. */
  "message.completed": z.strictObject({
    messageId: z.string(),
    text: z.string(),
    toolCalls: z.array(toolCall()).optional(),
    /** The message in the model's own format, to send it back to the same model unchanged. */
    native: z.unknown().optional(),
  }),
  "thought.delta": z.strictObject({ messageId: z.string(), text: z.string() }),
  "tool.started": z.strictObject({
    toolId: z.string(),
    name: z.string(),
    title: z.string(),
    kind: ToolKind,
    input: z.unknown(),
    locations: z.array(Location).optional(),
    /** The call of a program that made this one. Set if no message of the model asked for it. */
    parent: z.string().optional(),
  }),
  "tool.updated": z.strictObject({
    toolId: z.string(),
    text: z.string().optional(),
    title: z.string().optional(),
    locations: z.array(Location).optional(),
  }),
  "tool.ended": z.strictObject({
    toolId: z.string(),
    outcome: ToolOutcome,
    text: z.string(),
    locations: z.array(Location).optional(),
    diffs: z.array(FileDiff).optional(),
    blobs: z.array(blobPart()).optional(),
    structured: z.unknown().optional(),
  }),
  "permission.requested": z.strictObject({
    requestId: z.string(),
    toolId: z.string(),
    tool: z.string(),
    title: z.string(),
    kind: ToolKind,
    input: z.unknown(),
    /** The changes that the call would make to files, if they are known. */
    diffs: z.array(FileDiff).optional(),
    from: z.string().optional(),
  }),
  "permission.resolved": z.strictObject({
    requestId: z.string(),
    decision: z.enum(["allow", "deny", "cancelled"]),
    scope: z.enum(["once", "session"]),
    by: z.enum(["person", "policy"]),
    message: z.string().optional(),
    /** With scope `session`: only commands that start with these words are allowed. Default: every call of the tool. */
    prefix: z.string().optional(),
  }),
  /**
   * A person revoked the permission that they gave for the rest of the session. The agent asks again before this tool
   * runs.
   */
  "permission.revoked": z.strictObject({
    tool: z.string(),
    /** Revokes only the permission for commands that start with these words. Default: everything of the tool. */
    prefix: z.string().optional(),
  }),
  "question.asked": z.strictObject({
    requestId: z.string(),
    message: z.string(),
    from: z.string().optional(),
    schema: z.unknown().optional(),
    url: z.string().optional(),
  }),
  "question.answered": z.strictObject({
    requestId: z.string(),
    action: z.enum(["accept", "decline", "cancel"]),
    content: z.unknown().optional(),
    by: z.enum(["person", "policy"]),
  }),
  "plan.updated": z.strictObject({ entries: z.array(planEntry()) }),
  "usage.reported": z.strictObject({
    model: z.string().optional(),
    /** With the tokens that were read from and written to a cache. All tokens are `inputTokens + outputTokens`. */
    inputTokens: tokens(),
    /** With the tokens of the reasoning. */
    outputTokens: tokens(),
    /** A part of `inputTokens`. */
    cacheReadTokens: tokens().optional(),
    /** A part of `inputTokens`. */
    cacheWriteTokens: tokens().optional(),
    /** A part of `outputTokens`. */
    reasoningTokens: tokens().optional(),
    costUsd: z.number().nonnegative().optional(),
    /** `reported`: by the program. `computed`: by Rookery, from a price table. */
    costBy: z.enum(["reported", "computed"]).optional(),
    contextUsed: tokens().optional(),
    contextSize: tokens().optional(),
    /** The child session whose total usage this is. The child's log contains it too. */
    childSessionId: z.string().optional(),
  }),
  "mcp.status": z.strictObject({
    server: z.string(),
    status: z.enum(MCP_STATUSES),
    reason: z.string().optional(),
    /** What a person can do to fix it. */
    fix: z.string().optional(),
  }),
  /** A person enabled or disabled a tool. Applies whenever a tool of that name exists. */
  "tool.chosen": z.strictObject({ tool: z.string(), enabled: z.boolean() }),
  /** State that a plugin gets back when the session is opened again. */
  "plugin.saved": z.strictObject({ plugin: z.string(), version: z.string(), state: z.unknown() }),
  "process.started": z.strictObject({
    pid: z.int().positive(),
    startTime: z.string(),
    marker: z.string(),
    command: z.string(),
  }),
  "process.exited": z.strictObject({
    pid: z.int().positive(),
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
  }),
  /** `from`: the source of the output. Default: the agent's program. */
  "output.text": z.strictObject({ text: z.string(), from: z.string().optional() }),
  "agent.raw": z.strictObject({ data: z.unknown() }),
  "context.compacted": z.strictObject({ summary: z.string(), throughSeq: z.int().nonnegative() }),
  /**
   * The budget of the session or its task, counted from its start. `elsewhere`: amounts that the task's other
   * sessions have used.
   */
  "budget.set": z.strictObject({
    of: z.enum(["session", "task"]),
    budget: Budget,
    elsewhere: z
      .strictObject({
        tokens: tokens().optional(),
        /** Missing if unknown. */
        usd: z.number().nonnegative().optional(),
        steps: tokens().optional(),
        seconds: z.number().optional(),
      })
      .optional(),
  }),
  /** A person raised a limit for the rest of the session; null means no limit. */
  "budget.raised": z.strictObject({
    of: z.enum(BUDGET_HOLDERS),
    unit: z.enum(BUDGET_UNITS),
    to: z.number().positive().nullable(),
  }),
  "subagent.started": z.strictObject({
    childSessionId: z.string(),
    title: z.string(),
    /** The tool call that started it. */
    toolId: z.string().optional(),
  }),
  "subagent.ended": z.strictObject({ childSessionId: z.string(), outcome: TurnOutcome }),
  notice: z.strictObject({ level: z.enum(["info", "warning", "error"]), code: z.string(), message: z.string() }),
}));

type EventBodies = ReturnType<typeof eventBodies>;
export type EventType = keyof EventBodies;

const envelope = () => ({
  seq: z.int().positive(),
  at: z.iso.datetime(),
  sessionId: z.string(),
  turnId: z.string().optional(),
  agent: z.string(),
});

/** The envelope of a draft. The store adds `seq` and `sessionId`. */
interface Stamp {
  at: string;
  turnId?: string | undefined;
  agent: string;
}

/** An event without its envelope. */
export type EventBody = { [Type in EventType]: { type: Type } & z.infer<EventBodies[Type]> }[EventType];
/** An event to append. */
export type EventDraft = EventBody & Stamp;
/** An event in the log. */
export type SessionEvent = EventDraft & { seq: number; sessionId: string };
export type EventOf<Type extends EventType> = Extract<SessionEvent, { type: Type }>;

/** The schema of an event in the log, for programs that read logs. */
export const SessionEvent: z.ZodType<SessionEvent> = z.lazy(
  () =>
    z.discriminatedUnion(
      "type",
      Object.entries(eventBodies()).map(([type, body]) =>
        z.strictObject({ ...envelope(), type: z.literal(type), ...body.shape }),
      ) as unknown as [z.core.$ZodTypeDiscriminable],
    ) as unknown as z.ZodType<SessionEvent>,
);

/** Formats an input as text, for people and for backends that accept only text. */
export function formatInput(input: readonly InputPart[]): string {
  return input.map((part) => (part.type === "text" ? part.text : `[${part.name ?? part.mediaType}]`)).join("\n");
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
