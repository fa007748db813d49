/** Sessions as they go over the wire. */
import { z } from "zod";
import {
  InputPart,
  PermissionPolicy,
  SESSION_STATUSES,
  SessionEvent,
  ToolKind,
  type SessionSummary,
} from "../../../domain/index.ts";
import { MAX_MESSAGES } from "../../../session/index.ts";
import { Folder, Name, UsageSchema } from "./common.ts";

export const SummarySchema: z.ZodType<SessionSummary> = z.object({
  id: z.string(),
  head: z.int().describe("The seq of its last event."),
  agent: z.string(),
  backend: z.string(),
  model: z.string().optional(),
  cwd: z.string(),
  title: z.string().optional(),
  parent: z.string().optional(),
  depth: z.int().optional().describe("Of a child that its parent's agent began: how deep it is."),
  task: z.string().optional().describe("The task that it is of."),
  createdAt: z.string(),
  updatedAt: z.string(),
  status: z.enum(SESSION_STATUSES),
  turns: z.int(),
  parkedUntil: z.string().optional(),
  waitingFor: z.array(z.string()).describe("Requests that nobody answered yet."),
  ofNoTurn: z.array(z.string()).optional(),
  lastOutcome: z.enum(["done", "cancelled", "failed", "stalled"]).optional(),
  usage: UsageSchema.optional() as unknown as z.ZodType<SessionSummary["usage"]>,
  lastLine: z.string().optional(),
});

export const SessionListSchema = z.object({
  sessions: z.array(SummarySchema).describe("The newest first."),
  next: z.string().optional().describe("Give it as `before` for the next page."),
});

export const OpenSessionBody = z.strictObject({
  agent: Name.optional().describe("The default one if not said."),
  model: Name.optional(),
  cwd: Folder.optional().describe("A folder of the server's machine."),
  permissions: PermissionPolicy.optional(),
  title: z.string().max(1_000).optional(),
});

export const PromptBody = z.strictObject({
  input: z.union([z.string(), z.array(InputPart).max(100)]),
  queue: z.boolean().optional().describe("Where a turn runs, begin when it has ended."),
  deliver: z
    .enum(["steer", "follow_up"])
    .optional()
    .describe("Of what is queued: `steer` is given to the turn that runs, at its next step, where its agent can."),
});

export const ChangeSessionBody = z.strictObject({
  agent: Name.optional(),
  model: Name.optional(),
  cwd: Folder.optional().describe("A folder of the server's machine."),
  permissions: PermissionPolicy.optional(),
});

export const ConversationBody = z.strictObject({
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), text: z.string() }))
    .max(MAX_MESSAGES)
    .describe("The user's first. None begins anew."),
});

export const ForkSessionBody = z.strictObject({
  cwd: Folder.optional().describe("The same if not said."),
  title: z.string().max(1_000).optional(),
});

export const PromptedSchema = z.object({
  sessionId: z.string(),
  turnId: z.string().optional(),
  seq: z.int().optional().describe("Of its beginning: follow the session after the one before it."),
  inputId: z.string().optional().describe("Where it was queued."),
});

export const CloseBody = z.strictObject({ reason: z.string().max(1_000).optional() });

export const DeletedSchema = z.object({ id: z.string() });

export const EventPageSchema = z.object({
  events: z.array(SessionEvent),
  head: z.int().describe("The seq of the last event there is: read on until you have it."),
});

export const WaitingRequestSchema = z.object({
  sessionId: z.string(),
  requestId: z.string(),
  agent: z.string(),
  task: z.string().optional(),
  at: z.string(),
  kind: z.enum(["permission", "question"]),
  title: z.string(),
  tool: z.string().optional().describe("Of a permission."),
  toolKind: ToolKind.optional(),
  input: z.unknown().optional().describe("Of a permission: what the tool is to be called with."),
  from: z.string().optional().describe("Of a question: who asks."),
  schema: z.unknown().optional().describe("Of a question: a JSON schema of what is asked for."),
  url: z.string().optional(),
});
export type WaitingRequest = z.infer<typeof WaitingRequestSchema>;

export const RequestListSchema = z.object({ requests: z.array(WaitingRequestSchema) });

export const AnswerBody = z.union([
  z.strictObject({
    decision: z.enum(["allow", "deny"]).describe("To a permission."),
    scope: z.enum(["once", "session"]).optional(),
    message: z.string().max(10_000).optional(),
  }),
  z.strictObject({
    action: z.enum(["accept", "decline", "cancel"]).describe("To a question."),
    content: z.unknown().optional(),
  }),
]);
