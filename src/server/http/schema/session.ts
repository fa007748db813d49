/** Schemas of the session routes. */
import { z } from "zod";
import {
  ADOPTABLE_BACKENDS,
  ConversationMessage,
  FileDiff,
  InputPart,
  PermissionPolicy,
  SESSION_STATUSES,
  SessionEvent,
  ToolKind,
  type SessionSummary,
} from "../../../domain/index.ts";
import { AdoptArgument, AgentDefinitionArgument, MAX_MESSAGES } from "../../../session/index.ts";
import { Folder, Name, UsageSchema } from "./common.ts";

export const SummarySchema: z.ZodType<SessionSummary> = z.object({
  id: z.string(),
  head: z.int().describe("The `seq` of the last event."),
  agent: z.string(),
  backend: z.string(),
  model: z.string().optional(),
  cwd: z.string(),
  title: z.string().optional(),
  parent: z.string().optional(),
  depth: z.int().optional().describe("Nesting depth, for a session that another session's agent started."),
  task: z.string().optional().describe("The task that the session belongs to."),
  host: z.string().optional().describe("The host that has the folder, if several hosts share the store."),
  nativeId: z.string().optional().describe("The program's own id of the session, if it has sessions."),
  createdAt: z.string(),
  updatedAt: z.string(),
  status: z.enum(SESSION_STATUSES),
  turns: z.int(),
  parkedUntil: z.string().optional(),
  waitingFor: z.array(z.string()).describe("Ids of the pending requests."),
  ofNoTurn: z.array(z.string()).optional(),
  lastOutcome: z.enum(["done", "cancelled", "failed", "stalled"]).optional(),
  usage: UsageSchema.optional() as unknown as z.ZodType<SessionSummary["usage"]>,
  lastLine: z.string().optional(),
  lastPrompt: z.string().optional().describe("The first line of the latest prompt."),
});

export const SessionListSchema = z.object({
  sessions: z.array(SummarySchema).describe("Newest first."),
  next: z.string().optional().describe("Pass it as `before` to get the next page."),
});

const AgentBody = z
  .union([Name, AgentDefinitionArgument])
  .describe("The name of an agent, or the definition of one with the keys of a section `[agents.NAME]`.");

const Messages = z.array(ConversationMessage).max(MAX_MESSAGES);

export const OpenSessionBody = z.strictObject({
  agent: AgentBody.optional().describe(
    "The name of an agent, or the definition of one with its `name` and the keys of a section `[agents.NAME]` of `rookery.toml`. Default: the configured default agent.",
  ),
  model: Name.optional(),
  cwd: Folder.optional().describe(
    "A folder on the server's machine. With `adopt`, default: that of the program's session.",
  ),
  permissions: PermissionPolicy.optional(),
  title: z.string().max(1_000).optional(),
  messages: Messages.optional().describe(
    "What the conversation starts with: user messages, messages of the assistant with tool calls, and their results. Starts with a user message. Not together with `adopt`.",
  ),
  adopt: AdoptArgument.optional().describe(
    "Continue a session that a program keeps on the server's machine: imports its history, and the next prompt resumes it.",
  ),
});

export const NativeSessionsSchema = z.object({
  sessions: z
    .array(
      z.object({
        backend: z.enum(ADOPTABLE_BACKENDS),
        nativeId: z.string().describe("The program's own id of the session."),
        cwd: z.string(),
        updatedAt: z.string(),
        title: z.string().optional(),
        session: z.string().optional().describe("The session of Rookery that has it already."),
      }),
    )
    .describe("Last written first."),
});

export const PromptBody = z.strictObject({
  input: z.union([z.string(), z.array(InputPart).max(100)]),
  queue: z.boolean().optional().describe("Queue the input if a turn is running, and start when it ends."),
  deliver: z
    .enum(["steer", "follow_up"])
    .optional()
    .describe(
      "For queued input: `steer` delivers it to the running turn at its next step, if the agent supports that.",
    ),
});

export const ChangeSessionBody = z.strictObject({
  agent: AgentBody.optional(),
  model: Name.optional(),
  cwd: Folder.optional().describe("A folder on the server's machine."),
  permissions: PermissionPolicy.optional(),
});

export const ConversationBody = z.strictObject({
  messages: Messages.describe("Starts with a user message. An empty list clears the conversation."),
});

export const ForkSessionBody = z.strictObject({
  cwd: Folder.optional().describe("Default: the folder of the original session."),
  title: z.string().max(1_000).optional(),
  through: z
    .int()
    .nonnegative()
    .optional()
    .describe("A `seq`: only turns that ended at or before it are copied. Default: all completed turns."),
});

export const PromptedSchema = z.object({
  sessionId: z.string(),
  turnId: z.string().optional(),
  seq: z
    .int()
    .optional()
    .describe("The `seq` of the `turn.started` event. To follow the turn, pass `after` = `seq` - 1."),
  inputId: z.string().optional().describe("Set if the input was queued."),
});

export const CloseBody = z.strictObject({ reason: z.string().max(1_000).optional() });

export const DeletedSchema = z.object({ id: z.string() });

export const EventPageSchema = z.object({
  events: z.array(SessionEvent),
  head: z.int().describe("The `seq` of the last event: continue until you reach it."),
});

export const WaitingRequestSchema = z.object({
  sessionId: z.string(),
  requestId: z.string(),
  agent: z.string(),
  task: z.string().optional(),
  at: z.string(),
  kind: z.enum(["permission", "question"]),
  title: z.string(),
  tool: z.string().optional().describe("For permission requests."),
  toolKind: ToolKind.optional(),
  input: z.unknown().optional().describe("For permission requests: the input of the tool call."),
  diffs: z
    .array(FileDiff)
    .optional()
    .describe("For permission requests: the changes that the call would make to files."),
  from: z.string().optional().describe("For questions: who asks."),
  schema: z.unknown().optional().describe("For questions: a JSON schema of the expected answer."),
  url: z.string().optional(),
});

export const RequestListSchema = z.object({ requests: z.array(WaitingRequestSchema) });

export const AnswerBody = z.union([
  z.strictObject({
    decision: z.enum(["allow", "deny"]).describe("The answer to a permission request."),
    scope: z.enum(["once", "session"]).optional(),
    message: z.string().max(10_000).optional(),
    prefix: z
      .string()
      .max(200)
      .optional()
      .describe(
        "With scope session, for a shell command: allow only commands that start with these words. Default: every call of the tool.",
      ),
  }),
  z.strictObject({
    action: z.enum(["accept", "decline", "cancel"]).describe("The answer to a question."),
    content: z.unknown().optional(),
  }),
]);
