/**
 * Validates the arguments of the public methods of `Session` and `Rookery`. TypeScript checks typed callers; these
 * schemas reject invalid values from plain JavaScript, casts and parsed documents before they reach the log.
 */
import { z } from "zod";
import { cacheKeyText } from "../domain/agent-table.ts";
import { describeSecret, findDefinitionSecret } from "../domain/definition-secrets.ts";
import {
  ADOPTABLE_BACKENDS,
  AgentDefinition,
  BUDGET_UNITS,
  Budget,
  InputPart,
  PermissionPolicy,
  RookeryError,
  eventBodies,
  parseInput,
  type ConversationMessage,
} from "../domain/index.ts";
import type { Changes } from "./agent-settings.ts";
import type { Answer, CloseOptions, RevokeOptions } from "./method-types.ts";

/** The maximum length of a path, ID or title. */
const MAX_NAME_LENGTH = 10_000;
/** The maximum length of a reason or message. */
const MAX_MESSAGE_LENGTH = 4 * 1024 * 1024;

const optionalName = () => z.string().max(MAX_NAME_LENGTH).optional();
const optionalMessage = () => z.string().max(MAX_MESSAGE_LENGTH).optional();
const optionalSignal = () => z.instanceof(AbortSignal).optional();

const inputSchema = z.lazy(() => z.union([z.string(), z.array(InputPart).readonly()]));

export function parsePromptInput(input: unknown): string | readonly InputPart[] {
  return parseInput(inputSchema, input, "the prompt");
}

const deliverSchema = z.lazy(() => z.looseObject({ deliver: z.enum(["steer", "follow_up"]).optional() }));

export function parseQueueOptions(options: unknown): { readonly deliver?: "steer" | "follow_up" | undefined } {
  return parseInput(deliverSchema, options, "the options of queue");
}

const signalSchema = z.lazy(() => z.looseObject({ signal: optionalSignal() }));

export function checkSignalOption(options: unknown): void {
  parseInput(signalSchema, options, "the options");
}

const toolChoiceSchema = z.lazy(() => z.strictObject({ tool: z.string().max(MAX_NAME_LENGTH), enabled: z.boolean() }));

export function checkToolChoice(choice: unknown): void {
  parseInput(toolChoiceSchema, choice, "the arguments of chooseTool");
}

const aFunction = () => z.custom((value) => typeof value === "function", "expected a function");

const promptOptionsSchema = z.lazy(() =>
  z.looseObject({ turnId: z.string().min(1).max(MAX_NAME_LENGTH).optional(), signal: optionalSignal() }),
);

export function checkPromptOptions(options: unknown): void {
  parseInput(promptOptionsSchema, options, "the options of prompt");
}

/** The definition of an agent that a caller passes: without secrets, because the log keeps it. */
export const AgentDefinitionArgument = z.lazy(() =>
  AgentDefinition.superRefine((definition, context) => {
    const secret = findDefinitionSecret(definition);
    if (secret === undefined) return;
    context.addIssue({ code: "custom", path: [...secret.path], message: describeSecret(secret) });
  }),
);

const agentSchema = z.lazy(() => z.union([z.string().max(MAX_NAME_LENGTH), AgentDefinitionArgument]));

const changesSchema: z.ZodType<Changes> = z.lazy(() =>
  z.strictObject({
    agent: agentSchema.optional(),
    model: optionalName(),
    cwd: optionalName(),
    permissions: PermissionPolicy.optional(),
  }),
);

export function parseChanges(changes: unknown): Changes {
  return parseInput(changesSchema, changes, "the settings to change");
}

const messagesSchema = z.lazy(() => eventBodies()["conversation.replaced"].shape.messages);

export function parseConversation(messages: unknown): readonly ConversationMessage[] {
  return parseInput(messagesSchema, messages, "the conversation");
}

const answerSchema: z.ZodType<Answer> = z.lazy(() =>
  z.union([
    z.strictObject({
      decision: z.enum(["allow", "deny"]),
      scope: z.enum(["once", "session"]).optional(),
      message: optionalMessage(),
      prefix: optionalName(),
    }),
    z.strictObject({ action: z.enum(["accept", "decline", "cancel"]), content: z.unknown().optional() }),
  ]),
) as z.ZodType<Answer>;

export function parseAnswerArgument(answer: unknown): Answer {
  return parseInput(answerSchema, answer, "the answer");
}

const revokeSchema = z.lazy(() => z.strictObject({ prefix: optionalName() }));

export function parseRevokeOptions(options: unknown): RevokeOptions {
  return parseInput(revokeSchema, options, "the options of revoke") as RevokeOptions;
}

const closeSchema = z.lazy(() => z.strictObject({ cancelParked: z.boolean().optional() }));

export function parseCloseOptions(options: unknown): CloseOptions {
  return parseInput(closeSchema, options, "the options of close") as CloseOptions;
}

const serverFields = {
  name: z.string().min(1).max(MAX_NAME_LENGTH),
  timeoutMs: z.number().positive().optional(),
  connectTimeoutMs: z.number().positive().optional(),
  defer: z.boolean().optional(),
};
const textsByName = () => z.record(z.string(), z.string());
const remoteServer = {
  url: z.string(),
  headers: textsByName(),
  oauth: z
    .looseObject({
      clientId: optionalName(),
      clientSecret: optionalName(),
      scopes: z.array(z.string()).readonly().optional(),
      callbackPort: z.int().min(0).max(65_535).optional(),
    })
    .optional(),
};

const serverSpecSchema = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.looseObject({
      ...serverFields,
      type: z.literal("stdio"),
      command: z.string(),
      args: z.array(z.string()).readonly(),
      env: textsByName(),
      cwd: optionalName(),
    }),
    z.looseObject({ ...serverFields, ...remoteServer, type: z.enum(["http", "sse"]) }),
    z.looseObject({ ...serverFields, type: z.literal("memory"), open: aFunction() }),
    z.looseObject({ ...serverFields, type: z.literal("foreign") }),
    z.looseObject({ ...serverFields, type: z.literal("unusable"), reason: z.string() }),
  ]),
);

const serverSpecsSchema = z.lazy(() => z.array(serverSpecSchema).readonly());

export function checkServerSpecs(specs: unknown): void {
  parseInput(serverSpecsSchema, specs, "the MCP servers");
}

export function checkRemoteServerSpec(spec: unknown): void {
  parseInput(remoteSpecSchema, spec, "the MCP server");
}

const remoteSpecSchema = z.lazy(() =>
  z.looseObject({ ...serverFields, ...remoteServer, type: z.enum(["http", "sse"]) }),
);

/** A native ID is part of a file name and of a command line. */
const nativeIdSchema = () =>
  z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9_-]*$/, "expected the id of a session: letters, digits, - and _");

const nativeName = () => ({ backend: z.enum(ADOPTABLE_BACKENDS), nativeId: nativeIdSchema() });

const adoptOptionsSchema = z.lazy(() =>
  z.strictObject({
    ...nativeName(),
    agent: agentSchema.optional(),
    model: optionalName(),
    cwd: optionalName(),
    messages: messagesSchema.optional(),
    title: optionalName(),
    task: optionalName(),
    permissions: PermissionPolicy.optional(),
    env: textsByName().optional(),
  }),
);

export function checkAdoptOptions(options: unknown): void {
  parseInput(adoptOptionsSchema, options, "the options of adoptSession");
}

const nativeSessionsSchema = z.lazy(() =>
  z.strictObject({ cwd: optionalName(), backend: z.enum(ADOPTABLE_BACKENDS).optional() }),
);

export function checkNativeSessionsQuery(query: unknown): void {
  parseInput(nativeSessionsSchema, query, "the query of nativeSessions");
}

/** The schema of `adopt` when a session is opened. */
export const AdoptArgument = z.lazy(() => z.strictObject(nativeName()));

const openOptionsSchema = z.lazy(() =>
  z.strictObject({
    id: optionalName(),
    adopt: AdoptArgument.optional(),
    agent: agentSchema.optional(),
    model: optionalName(),
    cwd: optionalName(),
    messages: messagesSchema.optional(),
    title: optionalName(),
    task: optionalName(),
    permissions: PermissionPolicy.optional(),
    budget: Budget.optional(),
    taskBudget: z
      .looseObject({
        budget: Budget,
        elsewhere: z.partialRecord(z.enum(BUDGET_UNITS), z.number().nonnegative().optional()),
      })
      .optional(),
    baseUrl: optionalName(),
    apiKey: optionalMessage(),
    mcpServers: serverSpecsSchema.optional(),
    env: textsByName().optional(),
    folders: z.array(z.string()).readonly().optional(),
    toolsOnly: z.boolean().optional(),
    cacheKey: cacheKeyText().optional(),
    attended: z.boolean().optional(),
  }),
);

export function checkOpenOptions(options: unknown): void {
  const { id, adopt } = parseInput(openOptionsSchema, options, "the options of openSession");
  if (id === undefined || adopt === undefined) return;
  throw new RookeryError(
    "input_invalid",
    "the options of openSession are invalid: `id` and `adopt` exclude each other",
  );
}

const forkOptionsSchema = z.lazy(() =>
  z.strictObject({ cwd: optionalName(), title: optionalName(), through: z.int().nonnegative().optional() }),
);

export function checkForkOptions(options: unknown): void {
  parseInput(forkOptionsSchema, options, "the options of forkSession");
}

const textSchema = z.lazy(() => z.string().max(MAX_MESSAGE_LENGTH));

/** Checks an ID, a name or a reason. */
export function checkText(value: unknown, what: string): void {
  parseInput(textSchema, value, what);
}
