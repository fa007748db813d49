/**
 * Everything that can happen in a session: the closed union of events, as schemas that the types are inferred from.
 * They are built when they are first used: most runs of the command parse none, and should not wait for them.
 */
import { PERMISSION_POLICIES } from "./enums.ts";
import { z } from "zod";
import { Budget, BUDGET_HOLDERS, BUDGET_UNITS } from "./budget.ts";
import { MCP_STATUSES } from "./mcp.ts";

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

/** A change to one file; `before` is null where the file is new. Long texts are left out and said so. */
export const FileDiff = z.lazy(() =>
  z.strictObject({
    path: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
    truncated: z.boolean().optional(),
  }),
);
export type FileDiff = z.infer<typeof FileDiff>;

const blobPart = () =>
  z.strictObject({ type: z.literal("blob"), hash: z.string(), mediaType: z.string(), name: z.string().optional() });
/** Bytes that are kept beside the log. */
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
const planEntry = () =>
  z.strictObject({
    content: z.string(),
    status: z.enum(["pending", "in_progress", "completed"]),
    priority: z.enum(["high", "medium", "low"]).optional(),
  });
const tokens = () => z.int().nonnegative();

/** What each type carries beside the envelope. */
export const eventBodies = lazily(() => ({
  "session.opened": z.strictObject({
    cwd: z.string(),
    backend: z.string(),
    model: z.string().optional(),
    /** Somebody asked for that model; if not, it is the one that the agent was configured with. */
    modelChosen: z.boolean().optional(),
    permissions: PermissionPolicy,
    title: z.string().optional(),
    parent: z.string().optional(),
    /** How deep it is below the session that a person began: the parent's agent began this one. */
    depth: z.int().positive().optional(),
    /** The task that it is of. */
    task: z.string().optional(),
    /** What the program of the parent calls the session that this is a fork of. */
    forkOf: z.string().optional(),
    reopened: z.boolean().optional(),
    /** What follows is another session's, until it is opened again: till then it is half a copy, and of no use. */
    copying: z.boolean().optional(),
  }),
  "session.closed": z.strictObject({ reason: z.string().optional() }),
  "agent.switched": z.strictObject({ from: z.string(), to: z.string() }),
  /** A program that keeps sessions of its own has one for this: a new one, an earlier one, or a new one that was told what went before. */
  "agent.connected": z.strictObject({
    /** Left out where the program has no name for it, or has not said it yet: then it is connected once more. */
    nativeId: z.string().optional(),
    how: z.enum(["new", "resumed", "loaded", "forked", "handed_over"]),
    /** Of the program, where it says it. */
    version: z.string().optional(),
  }),
  "turn.started": z.strictObject({ input: z.array(InputPart), inputId: z.string().optional() }),
  "turn.ended": z.strictObject({ outcome: TurnOutcome }),
  /** The account behind the agent may do no more for now; `resetsAt` where it was said until when. */
  "limit.reached": z.strictObject({ message: z.string(), resetsAt: z.iso.datetime().optional() }),
  /** The turn waits, whoever holds the session, and goes on by itself then. */
  "turn.parked": z.strictObject({ until: z.iso.datetime(), message: z.string() }),
  "turn.continued": z.strictObject({ message: z.string().optional() }),
  /** `steer`: for the next step of the turn that runs, where its agent can; else for a turn of its own. */
  "input.queued": z.strictObject({
    inputId: z.string(),
    input: z.array(InputPart),
    deliver: z.enum(["steer", "follow_up"]).optional(),
  }),
  /** To the turn that runs, before the model was asked again. */
  "input.delivered": z.strictObject({ inputId: z.string(), input: z.array(InputPart) }),
  /** What was said before counts no more: the agent goes on from these. The log keeps it all the same. */
  "conversation.replaced": z.strictObject({
    messages: z.array(z.strictObject({ role: z.enum(["user", "assistant"]), text: z.string() })),
  }),
  "message.delta": z.strictObject({ messageId: z.string(), text: z.string() }),
  /** What the agent said, whole. A message with deltas and no completion was abandoned and counts for nothing. */
  "message.completed": z.strictObject({
    messageId: z.string(),
    text: z.string(),
    toolCalls: z.array(toolCall()).optional(),
    /** The model's own form of the message, for giving it back to the same model unchanged. */
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
    /** The call that made this one, where no message asked for it: a program's. */
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
    from: z.string().optional(),
  }),
  "permission.resolved": z.strictObject({
    requestId: z.string(),
    decision: z.enum(["allow", "deny", "cancelled"]),
    scope: z.enum(["once", "session"]),
    by: z.enum(["person", "policy"]),
    message: z.string().optional(),
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
    inputTokens: tokens(),
    outputTokens: tokens(),
    cacheReadTokens: tokens().optional(),
    cacheWriteTokens: tokens().optional(),
    reasoningTokens: tokens().optional(),
    costUsd: z.number().nonnegative().optional(),
    /** Who says what it cost: the program itself, or we, from a table of prices. */
    costBy: z.enum(["reported", "computed"]).optional(),
    contextUsed: tokens().optional(),
    contextSize: tokens().optional(),
    /** Of a child, whole, when it ended: its own log has it too. */
    childSessionId: z.string().optional(),
  }),
  "mcp.status": z.strictObject({
    server: z.string(),
    status: z.enum(MCP_STATUSES),
    reason: z.string().optional(),
    /** What a person can do about it. */
    fix: z.string().optional(),
  }),
  /** A person wants a tool, or does not, whenever there is one of that name. */
  "tool.chosen": z.strictObject({ tool: z.string(), enabled: z.boolean() }),
  /** What a plugin wants to find again when the session is opened again. */
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
  /** `from`: who printed it, if not the agent's program. */
  "output.text": z.strictObject({ text: z.string(), from: z.string().optional() }),
  "agent.raw": z.strictObject({ data: z.unknown() }),
  "context.compacted": z.strictObject({ summary: z.string(), throughSeq: z.int().nonnegative() }),
  /** What the session may use, or the task that it is of, from its beginning on; `elsewhere`: what the task has used beside it. */
  "budget.set": z.strictObject({
    of: z.enum(["session", "task"]),
    budget: Budget,
    elsewhere: z
      .strictObject({
        tokens: tokens().optional(),
        /** Left out where nobody knows. */
        usd: z.number().nonnegative().optional(),
        steps: tokens().optional(),
        seconds: z.number().optional(),
      })
      .optional(),
  }),
  /** A person allowed more for the rest of the session: up to there, or without end. */
  "budget.raised": z.strictObject({
    of: z.enum(BUDGET_HOLDERS),
    unit: z.enum(BUDGET_UNITS),
    to: z.number().positive().nullable(),
  }),
  "subagent.started": z.strictObject({
    childSessionId: z.string(),
    title: z.string(),
    /** The call that asked for it. */
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

/** The envelope as an appender gives it; only the store adds `seq` and `sessionId`. */
interface Stamp {
  at: string;
  turnId?: string | undefined;
  agent: string;
}

/** What happened, before anyone said when and to whom. */
export type EventBody = { [Type in EventType]: { type: Type } & z.infer<EventBodies[Type]> }[EventType];
/** What is appended. */
export type EventDraft = EventBody & Stamp;
/** What is in the log. */
export type SessionEvent = EventDraft & { seq: number; sessionId: string };
export type EventOf<Type extends EventType> = Extract<SessionEvent, { type: Type }>;

/** The schema of a log entry; exported so that others can check what they read. */
export const SessionEvent: z.ZodType<SessionEvent> = z.lazy(
  () =>
    z.discriminatedUnion(
      "type",
      Object.entries(eventBodies()).map(([type, body]) =>
        z.strictObject({ ...envelope(), type: z.literal(type), ...body.shape }),
      ) as unknown as [z.core.$ZodTypeDiscriminable],
    ) as unknown as z.ZodType<SessionEvent>,
);

/** The text of an input, for people and for backends that take only text. */
export function formatInput(input: readonly InputPart[]): string {
  return input.map((part) => (part.type === "text" ? part.text : `[${part.name ?? part.mediaType}]`)).join("\n");
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
