/** One tool of the built-in agent: what a model is told, and what it does. */
import { z } from "zod";
import type { ToolContext, ToolDescription, ToolKind, ToolResult, ToolSpec } from "../../domain/index.ts";
import type { SeenFiles } from "./files/seen.ts";
import type { Background } from "./shell/background.ts";

/** What a tool says when it is asked for something it must not or cannot do. */
export class ToolRefusal extends Error {}

export interface CallContext extends ToolContext {
  /** Of the commands that are run. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working folder, and those that were allowed beside it. */
  readonly folders: readonly string[];
  readonly seen: SeenFiles;
  readonly background: Background;
}

export interface CodingTool extends Traits {
  readonly input: z.ZodType;
  describe(input: unknown): ToolDescription;
  run(input: unknown, context: CallContext): Promise<ToolResult>;
}

interface Traits extends Pick<ToolSpec, "repeatable" | "concurrent" | "timeoutMs"> {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
}

interface Definition<Input> extends Traits {
  readonly input: z.ZodType<Input>;
  describe(input: Input): ToolDescription;
  /** May throw a ToolRefusal, a PathRefusal or a system error: each becomes a failed outcome in words. */
  run(input: Input, context: CallContext): Promise<ToolResult>;
}

/** Enough for what only looks at files. */
export const LOOKING_MS = 60_000;

/** Checks the arguments before either function sees them. */
export function defineTool<Input>(definition: Definition<Input>): CodingTool {
  const { name, input: schema } = definition;
  return {
    ...definition,
    describe(input) {
      const parsed = schema.safeParse(input);
      return parsed.success ? definition.describe(parsed.data) : { title: name };
    },
    async run(input, context) {
      const parsed = schema.safeParse(input);
      if (parsed.success) return definition.run(parsed.data, context);
      return { outcome: "failed", text: `the arguments do not fit: ${z.prettifyError(parsed.error)}` };
    },
  };
}

/** A path or a command: the system takes neither with a NUL in it. */
export function systemText() {
  return z
    .string()
    .min(1)
    .refine((text) => !text.includes("\0"), "must not have a NUL character in it");
}

/** A text for a file: half of a character could not be written as it is. */
export function wholeText() {
  return z.string().refine((text) => text.isWellFormed(), "must not have half a character in it");
}

export function ok(text: string, more: Partial<ToolResult> = {}): ToolResult {
  return { ...more, outcome: "ok", text };
}
