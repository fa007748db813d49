/**
 * Schemas of what callers hand to a session and to `Rookery`. TypeScript checks its own callers; these refuse what
 * plain JavaScript, a cast or a parsed document brings, before any of it reaches the log.
 */
import { z } from "zod";
import { Budget, InputPart, PermissionPolicy, eventBodies, parseInput } from "../domain/index.ts";
import type { Answer } from "./answer.ts";
import type { ReplacedMessage } from "./conversation.ts";
import type { Changes } from "./driver.ts";

const optionalText = () => z.string().optional();

const inputSchema = z.lazy(() => z.union([z.string(), z.array(InputPart).readonly()]));

export function parsePromptInput(input: unknown): string | readonly InputPart[] {
  return parseInput(inputSchema, input, "the prompt");
}

const deliverSchema = z.lazy(() => z.looseObject({ deliver: z.enum(["steer", "follow_up"]).optional() }));

export function checkQueueOptions(options: unknown): void {
  parseInput(deliverSchema, options, "the options of the input");
}

const toolChoiceSchema = z.lazy(() => z.strictObject({ tool: z.string(), enabled: z.boolean() }));

export function checkToolChoice(choice: unknown): void {
  parseInput(toolChoiceSchema, choice, "the choice of a tool");
}

const aFunction = () => z.custom((value) => typeof value === "function", "expected a function");

/** What its sources and contributions return is checked where it is used. */
const overlaySchema = z.lazy(() =>
  z.looseObject({
    sources: z.array(z.looseObject({ list: aFunction() })).readonly(),
    contributions: z
      .array(z.looseObject({ title: z.string(), content: z.string() }))
      .readonly()
      .optional(),
    base: z.boolean().optional(),
  }),
);

export function checkOverlay(overlay: unknown): void {
  parseInput(overlaySchema, overlay, "the overlay");
}

const promptOptionsSchema = z.lazy(() =>
  z.looseObject({ turnId: z.string().min(1).optional(), signal: z.instanceof(AbortSignal).optional() }),
);

export function checkPromptOptions(options: unknown): void {
  parseInput(promptOptionsSchema, options, "the options of the prompt");
}

const changesSchema: z.ZodType<Changes> = z.lazy(() =>
  z.strictObject({
    agent: optionalText(),
    model: optionalText(),
    cwd: optionalText(),
    permissions: PermissionPolicy.optional(),
  }),
);

export function parseChanges(changes: unknown): Changes {
  return parseInput(changesSchema, changes, "the change of the session");
}

const messagesSchema = z.lazy(() => eventBodies()["conversation.replaced"].shape.messages);

export function parseReplacedMessages(messages: unknown): readonly ReplacedMessage[] {
  return parseInput(messagesSchema, messages, "the new conversation");
}

const answerSchema: z.ZodType<Answer> = z.lazy(() =>
  z.union([
    z.strictObject({
      decision: z.enum(["allow", "deny"]),
      scope: z.enum(["once", "session"]).optional(),
      message: optionalText(),
    }),
    z.strictObject({ action: z.enum(["accept", "decline", "cancel"]), content: z.unknown().optional() }),
  ]),
) as z.ZodType<Answer>;

export function parseAnswer(answer: unknown): Answer {
  return parseInput(answerSchema, answer, "the answer");
}

/** Fields that the schema does not name are read by the code that uses them. */
const openOptionsSchema = z.lazy(() =>
  z.looseObject({
    id: optionalText(),
    agent: optionalText(),
    model: optionalText(),
    cwd: optionalText(),
    title: optionalText(),
    task: optionalText(),
    permissions: PermissionPolicy.optional(),
    budget: Budget.optional(),
    baseUrl: optionalText(),
    apiKey: optionalText(),
    mcpServers: z
      .array(z.looseObject({ name: z.string(), type: optionalText() }))
      .readonly()
      .optional(),
    env: z.record(z.string(), z.string()).optional(),
    folders: z.array(z.string()).readonly().optional(),
    toolsOnly: z.boolean().optional(),
    attended: z.boolean().optional(),
  }),
);

export function checkOpenOptions(options: unknown): void {
  parseInput(openOptionsSchema, options, "the options of openSession");
}

const forkOptionsSchema = z.lazy(() => z.strictObject({ cwd: optionalText(), title: optionalText() }));

export function checkForkOptions(options: unknown): void {
  parseInput(forkOptionsSchema, options, "the options of forkSession");
}

const textSchema = z.lazy(() => z.string());

/** For ids, names and reasons. */
export function checkText(value: unknown, what: string): void {
  parseInput(textSchema, value, what);
}
