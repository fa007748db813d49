/** Schemas of the `codex app-server` messages that Rookery uses (0.166.0). Other fields are ignored. */
import { z } from "zod";

const text = z.string();
const anything = z.unknown().optional();
const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

export const FileUpdate = z.object({
  path: text,
  kind: z.object({ type: z.enum(["add", "delete", "update"]), move_path: maybe(text) }),
  /** Content of an added or deleted file, hunks of an updated one. Missing in `exec`. */
  diff: maybe(text),
});
export type FileUpdate = z.infer<typeof FileUpdate>;

const command = z.object({
  type: z.literal("commandExecution"),
  id: text,
  command: text,
  cwd: maybe(text),
  status: text,
  aggregatedOutput: maybe(text),
  exitCode: maybe(z.number()),
});
const fileChange = z.object({
  type: z.literal("fileChange"),
  id: text,
  changes: z.array(FileUpdate),
  status: text,
});
const mcpCall = z.object({
  type: z.literal("mcpToolCall"),
  id: text,
  server: text,
  tool: text,
  status: text,
  arguments: anything,
  readOnlyHint: maybe(z.boolean()),
  result: maybe(z.object({ content: z.array(anything) })),
  error: maybe(z.object({ message: text })),
});
const dynamicCall = z.object({
  type: z.literal("dynamicToolCall"),
  id: text,
  tool: text,
  arguments: anything,
  status: text,
  contentItems: maybe(z.array(anything)),
});
const agentCall = z.object({
  type: z.literal("collabAgentToolCall"),
  id: text,
  tool: text,
  status: text,
  prompt: maybe(text),
});
const webSearch = z.object({
  type: z.literal("webSearch"),
  id: text,
  query: z.string().catch(""),
  action: maybe(z.object({ type: text, url: maybe(text) })),
});
const imageView = z.object({ type: z.literal("imageView"), id: text, path: text });
const message = z.object({ type: z.literal("agentMessage"), id: text, text });
const plan = z.object({ type: z.literal("plan"), id: text, text });
const reasoning = z.object({
  type: z.literal("reasoning"),
  id: text,
  summary: z.array(text).catch([]),
  content: z.array(text).catch([]),
});

export const ToolItem = z.discriminatedUnion("type", [
  command,
  fileChange,
  mcpCall,
  dynamicCall,
  agentCall,
  webSearch,
  imageView,
]);
export type ToolItem = z.infer<typeof ToolItem>;
export type ItemOf<Type extends ToolItem["type"]> = Extract<ToolItem, { type: Type }>;

export const Item = z.discriminatedUnion("type", [...ToolItem.options, message, plan, reasoning]);
export type Item = z.infer<typeof Item>;

export const TurnError = z.object({
  message: text,
  /** A string, or an object with details. */
  codexErrorInfo: anything,
  additionalDetails: maybe(text),
});
export type TurnError = z.infer<typeof TurnError>;

const breakdown = z.object({
  totalTokens: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number().catch(0),
  cacheWriteInputTokens: z.number().catch(0),
  outputTokens: z.number(),
  reasoningOutputTokens: z.number().catch(0),
});
export type TokenBreakdown = z.infer<typeof breakdown>;

export const TokenUsage = z.object({ total: breakdown, last: breakdown, modelContextWindow: maybe(z.number()) });
export type TokenUsage = z.infer<typeof TokenUsage>;

const rateWindow = z.object({ usedPercent: z.number(), resetsAt: maybe(z.number()) });
export const RateLimits = z.object({
  primary: maybe(rateWindow),
  secondary: maybe(rateWindow),
  individualLimit: maybe(z.object({ remainingPercent: z.number(), resetsAt: z.number() })),
});
export type RateLimits = z.infer<typeof RateLimits>;

/** The conversation and turn that a notification belongs to. */
export const NotificationScope = z.object({ threadId: maybe(text), turnId: maybe(text) });
export const ItemEvent = z.object({ item: anything });
export const Delta = z.object({ itemId: text, delta: text });
export const McpProgress = z.object({ itemId: text, message: text });
export const PartAdded = z.object({ itemId: text, summaryIndex: z.number() });
export const CodexTurnEvent = z.object({
  turn: z.object({ id: text, status: text, error: TurnError.nullish().catch(undefined) }),
});
export const PlanEvent = z.object({ plan: z.array(z.object({ step: text, status: text })) });
export const UsageEvent = z.object({ tokenUsage: TokenUsage });
export const LimitsEvent = z.object({ rateLimits: RateLimits });
export const ErrorEvent = z.object({ error: TurnError, willRetry: z.boolean() });
export const Warning = z.object({ message: text });
export const ConfigWarning = z.object({ summary: text, details: maybe(text) });
export const ServerStartup = z.object({ name: text, status: text, error: maybe(text) });
export const ResolvedRequest = z.object({ requestId: z.union([text, z.number()]) });

export const Initialized = z.object({ userAgent: z.string().catch("") });
export const Account = z.object({ account: anything, requiresOpenaiAuth: z.boolean() });
export const Thread = z.object({ thread: z.object({ id: text }), model: maybe(text), modelProvider: maybe(text) });
export const ConfigResponse = z.object({ config: z.object({ openai_base_url: maybe(text) }) });

export const CommandApproval = z.object({
  itemId: text,
  approvalId: maybe(text),
  kind: maybe(text),
  reason: maybe(text),
  command: maybe(text),
  cwd: maybe(text),
  networkApprovalContext: maybe(z.object({ host: text, protocol: maybe(text) })),
});
export const ChangeApproval = z.object({ itemId: text, reason: maybe(text), grantRoot: maybe(text) });
export const MorePermissions = z.object({
  itemId: text,
  reason: maybe(text),
  permissions: z.object({ network: anything, fileSystem: anything }),
});
export const UserInput = z.object({
  questions: z.array(
    z.object({
      id: text,
      header: z.string().catch(""),
      question: text,
      isOther: z.boolean().catch(false),
      isSecret: z.boolean().catch(false),
      options: maybe(z.array(z.object({ label: text, description: z.string().catch("") }))),
    }),
  ),
});
export type UserInput = z.infer<typeof UserInput>;
export const Elicitation = z.object({
  serverName: text,
  mode: text,
  message: text,
  requestedSchema: anything,
  url: maybe(text),
  _meta: anything,
});
export type Elicitation = z.infer<typeof Elicitation>;
/** The `_meta` of an elicitation that asks for approval of an MCP tool call. */
export const ToolApproval = z.object({ codex_approval_kind: z.literal("mcp_tool_call"), tool_params: anything });
