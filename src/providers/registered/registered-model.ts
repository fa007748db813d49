/**
 * Opens a model of a registered provider and protects its agent: what it streams is checked and bounded, waiting for it
 * ends when the request is aborted, and its failures are classified.
 */
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { RookeryError, isRookeryError, messageOf } from "../../domain/errors.ts";
import type {
  CompletionRequest,
  Model,
  CompletionMessage,
  ModelPart,
  ModelPrice,
  ModelReply,
  Provider,
  ProviderOpenOptions,
} from "../../domain/model.ts";
import { ProviderError } from "../../domain/provider-error.ts";
import { raceAbort, settlesWithin } from "../../stdx/wait.ts";
import { findNetworkCode } from "../errors.ts";
import { wellFormed } from "../well-formed.ts";

/** Opening sends nothing, but it may read a file or load a package. */
const OPEN_MS = 60_000;

/** No model writes as much; a stream without end would otherwise fill the memory. */
export interface StreamLimits {
  readonly parts: number;
  /** Of all texts and thoughts together, and of the reply as JSON. */
  readonly characters: number;
}
const STREAM_LIMITS: StreamLimits = { parts: 2_000_000, characters: 64 * 1024 * 1024 };
/** After this many parts, other work of the process gets a turn, because a stream may never wait. */
const PARTS_PER_SLICE = 500;

/** Rejects with the provider's own `RookeryError`, or with `provider_failed`. */
export async function openRegisteredModel(
  provider: Provider,
  model: string,
  options: ProviderOpenOptions,
  limits: StreamLimits = STREAM_LIMITS,
): Promise<Model> {
  const name = `${provider.name}/${model}`;
  try {
    const opening = (async () => provider.open(model, options))();
    if (!(await settlesWithin(OPEN_MS, opening))) throw new Error(`it did not answer within ${OPEN_MS / 1_000} s`);
    const raw: unknown = await opening;
    const { stream, contextSize, price } = OpenedModel.parse(raw);
    const start = (request: CompletionRequest) => Reflect.apply(stream, raw, [request]);
    return {
      name,
      contextSize,
      price: price as ModelPrice | undefined,
      stream: (request) => streamChecked({ provider: provider.name, model, start, limits }, request),
    };
  } catch (cause) {
    if (isRookeryError(cause)) throw cause;
    const message = `the provider ${provider.name} could not open the model ${model}: ${describe(cause)}`;
    throw new RookeryError("provider_failed", message, { cause });
  }
}

const usd = () => z.number().nonnegative();

const OpenedModel = z.lazy(() =>
  z.object({
    stream: z.custom<(request: CompletionRequest) => unknown>(
      (value) => typeof value === "function",
      "expected a function",
    ),
    contextSize: z.int().positive().optional(),
    price: z
      .object({
        input: usd(),
        output: usd(),
        cacheRead: usd().optional(),
        cacheWrite: usd().optional(),
        long: z.object({ over: z.int().nonnegative(), input: usd(), output: usd() }).optional(),
      })
      .optional(),
  }),
);

interface RegisteredModel {
  readonly provider: string;
  readonly model: string;
  readonly start: (request: CompletionRequest) => unknown;
  readonly limits: StreamLimits;
}

async function* streamChecked(opened: RegisteredModel, request: CompletionRequest): AsyncIterable<ModelPart> {
  const { provider, start, limits } = opened;
  const { signal } = request;
  signal.throwIfAborted();
  let parts = 0;
  let characters = 0;
  try {
    for await (const raw of abortable(
      start({ ...request, messages: withOwnNative(opened, request.messages) }),
      signal,
    )) {
      const part = readPart(raw, opened, request);
      parts += 1;
      characters += part.type === "text" || part.type === "thought" ? part.text.length : 0;
      if (parts > limits.parts || characters > limits.characters) throw tooLong(provider);
      if (parts % PARTS_PER_SLICE === 0) await setImmediate();
      signal.throwIfAborted();
      yield part;
      if (part.type === "reply") return;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw toRegisteredError(error, provider);
  }
  throw new ProviderError("provider_failed", `${provider} ended its reply early; try again`, { retry: {} });
}

/** Stops waiting when the signal fires, even if the stream ignores it. */
async function* abortable(stream: unknown, signal: AbortSignal): AsyncIterable<unknown> {
  const iterate: unknown = (stream as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator];
  if (typeof iterate !== "function") throw new Error("stream() did not return an async iterable");
  const iterator = Reflect.apply(iterate, stream, []) as AsyncIterator<unknown>;
  let isDone = false;
  try {
    for (;;) {
      const next = await raceAbort(Promise.resolve(iterator.next()), signal);
      isDone = next.done === true;
      if (isDone) return;
      yield next.value;
    }
  } finally {
    if (!isDone) Promise.resolve(iterator.return?.()).catch(() => undefined); // nobody waits for a stream that hangs
  }
}

const tokens = () => z.int().nonnegative().default(0);
const Part = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("thought"), text: z.string() }),
    z.object({ type: z.literal("piece") }),
    z.object({ type: z.literal("reply"), reply: z.unknown() }),
  ]),
);

const Reply = z.lazy(() =>
  z.object({
    text: z.string().default(""),
    calls: z
      .array(
        z.object({ toolId: z.string().min(1), name: z.string(), input: z.unknown(), invalid: z.string().optional() }),
      )
      .default([]),
    stopReason: z.string().default("stop"),
    usage: z
      .object({
        inputTokens: tokens(),
        outputTokens: tokens(),
        cacheReadTokens: tokens(),
        cacheWriteTokens: tokens(),
        reasoningTokens: tokens(),
      })
      .prefault({}),
    native: z.unknown().optional(),
  }),
);

function readPart(raw: unknown, opened: RegisteredModel, request: CompletionRequest): ModelPart {
  const part = Part.parse(raw);
  return part.type === "reply" ? { type: "reply", reply: readReply(part.reply, opened, request) } : wellFormed(part);
}

/** Returns a plain copy, in which every call has an ID of its own and an object as its input. */
function readReply(raw: unknown, opened: RegisteredModel, { messages, takenIds = [] }: CompletionRequest): ModelReply {
  const text = JSON.stringify(raw) as string | undefined;
  if ((text?.length ?? 0) > opened.limits.characters) throw tooLong(opened.provider);
  const { native: content, calls, ...reply } = Reply.parse(wellFormed(JSON.parse(text ?? "null") as unknown));
  const used = new Set(takenIds);
  for (const message of messages)
    if (message.role === "assistant") for (const { toolId } of message.calls) used.add(toolId);
  const { provider, model } = opened;
  return {
    ...reply,
    calls: calls.map((call) => ({ ...call, ...readInput(call.input), toolId: takeUniqueId(call.toolId, used) })),
    native: content === undefined ? null : { provider, model, content },
  };
}

function readInput(input: unknown): { readonly input: unknown; readonly invalid?: string } {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return { input };
  return { input: { invalid_input: input ?? null }, invalid: "the arguments are not a JSON object" };
}

function takeUniqueId(id: string, used: Set<string>): string {
  let free = id;
  for (let count = 2; used.has(free); count += 1) free = `${id}_${count}`;
  used.add(free);
  return free;
}

/** Another model's form of a message means nothing to this one. */
function withOwnNative(
  { provider, model }: RegisteredModel,
  messages: readonly CompletionMessage[],
): CompletionMessage[] {
  return messages.map((message) => {
    if (message.role !== "assistant" || message.native === undefined) return message;
    const { native, ...others } = message;
    const own: { readonly provider?: unknown; readonly model?: unknown; readonly content?: unknown } | null = native;
    return own?.provider === provider && own.model === model ? { ...others, native: own.content } : others;
  });
}

function toRegisteredError(error: unknown, provider: string): RookeryError {
  if (isRookeryError(error)) return error;
  const network = findNetworkCode(error);
  if (network === undefined) {
    return new ProviderError("provider_failed", `the provider ${provider} failed: ${describe(error)}`, {
      cause: error,
    });
  }
  const message = `the provider ${provider} cannot reach its server (${network}): check the network and its address`;
  return new ProviderError("provider_unreachable", message, { cause: error, retry: {} });
}

function tooLong(provider: string): ProviderError {
  return new ProviderError("provider_failed", `the provider ${provider} streamed a reply without end, and was stopped`);
}

function describe(error: unknown): string {
  return error instanceof z.ZodError ? z.prettifyError(error).slice(0, 500) : messageOf(error).slice(0, 500);
}
