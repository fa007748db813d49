/** Sampling: a server asks for a completion by the session's model, and the session decides. */
import { z } from "zod";

export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[];
  readonly systemPrompt?: string | undefined;
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  /** Name fragments of models that the server prefers, the preferred one first. */
  readonly models: readonly string[];
}

export interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly parts: readonly SamplingPart[];
}

export type SamplingPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly bytes: Uint8Array; readonly mediaType: string };

export interface SamplingReply {
  readonly model: string;
  readonly text: string;
  readonly stopReason?: "endTurn" | "stopSequence" | "maxTokens" | undefined;
}

/** Throw this if sampling is not permitted. The server gets the protocol's refusal. */
export class SamplingRefused extends Error {
  constructor(why = "the user refused it") {
    super(why);
    this.name = "SamplingRefused";
  }
}

const Part = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() }),
  ]),
);
const Params = z.lazy(() =>
  z.object({
    messages: z.array(z.object({ role: z.enum(["user", "assistant"]), content: z.union([Part, z.array(Part)]) })),
    systemPrompt: z.string().optional(),
    maxTokens: z.number().positive(),
    temperature: z.number().optional(),
    stopSequences: z.array(z.string()).optional(),
    modelPreferences: z.object({ hints: z.array(z.object({ name: z.string().optional() })).optional() }).optional(),
  }),
);

/** Throws for invalid parameters and unsupported features such as tools. */
export function readSampling(params: unknown): SamplingRequest {
  const { messages, modelPreferences, ...rest } = Params.parse(params);
  return {
    ...rest,
    messages: messages.map(({ role, content }) => ({ role, parts: [content].flat().map(toSamplingPart) })),
    models: (modelPreferences?.hints ?? []).flatMap(({ name }) => name ?? []),
  };
}

export function samplingResult({ model, text, stopReason }: SamplingReply): Record<string, unknown> {
  return { role: "assistant", content: { type: "text", text }, model, stopReason: stopReason ?? "endTurn" };
}

function toSamplingPart(part: z.infer<typeof Part>): SamplingPart {
  if (part.type === "text") return part;
  return { type: part.type, bytes: Buffer.from(part.data, "base64"), mediaType: part.mimeType };
}
