/** The records that Gemini CLI 0.61 prints with `-o stream-json`. */
import { z } from "zod";

const Stats = z.object({
  /** Input, output and the tokens of thoughts, which `output_tokens` does not include. */
  total_tokens: z.number().catch(0),
  input_tokens: z.number().catch(0),
  output_tokens: z.number().catch(0),
  cached: z.number().optional().catch(undefined),
});

export const GeminiRecord = z.discriminatedUnion("type", [
  z.object({ type: z.literal("init"), session_id: z.string() }),
  z.object({
    type: z.literal("message"),
    role: z.string(),
    content: z.string(),
    delta: z.boolean().optional(),
  }),
  z.object({
    type: z.literal("tool_use"),
    tool_name: z.string(),
    tool_id: z.string(),
    parameters: z.record(z.string(), z.unknown()).catch({}),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_id: z.string(),
    status: z.string(),
    output: z.string().optional().catch(undefined),
    error: z.object({ type: z.string().optional(), message: z.string() }).optional().catch(undefined),
  }),
  z.object({ type: z.literal("error"), severity: z.string().optional(), message: z.string() }),
  z.object({
    type: z.literal("result"),
    status: z.string(),
    error: z.object({ message: z.string() }).optional().catch(undefined),
    stats: Stats.optional().catch(undefined),
  }),
]);
export type GeminiRecord = z.infer<typeof GeminiRecord>;
export type GeminiResult = Extract<GeminiRecord, { type: "result" }>;
