/** Defines one tool of the built-in agent: what a model sees of it, and what it does. */
import { z } from "zod";
import type { ToolContext, ToolDescription, ToolKind, ToolResult, ToolSpec } from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import type { SeenFiles } from "./files/seen-files.ts";
import type { BackgroundCommands } from "./shell/background-commands.ts";

export interface CodingToolContext extends ToolContext {
  /** The environment of commands. */
  readonly env: EnvironmentVariables;
  /** The working directory, followed by the other allowed directories. */
  readonly folders: readonly string[];
  readonly seen: SeenFiles;
  readonly background: BackgroundCommands;
}

export interface CodingTool extends ToolTraits {
  readonly input: z.ZodType;
  describe(input: unknown): ToolDescription;
  run(input: unknown, context: CodingToolContext): Promise<ToolResult>;
}

interface ToolTraits extends Pick<ToolSpec, "repeatable" | "concurrent" | "timeoutMs"> {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
}

interface CodingToolDefinition<Input> extends ToolTraits {
  readonly input: z.ZodType<Input>;
  describe(input: Input): ToolDescription;
  /**
   * May throw a ToolRefusal, a PathRefusal or a system error. Each becomes a failed outcome with the error's message.
   */
  run(input: Input, context: CodingToolContext): Promise<ToolResult>;
}

/** Timeout of tools that only read files. */
export const FILE_TIMEOUT_MS = 60_000;

/** Validates the arguments before `describe` and `run` get them. */
export function defineTool<Input>(definition: CodingToolDefinition<Input>): CodingTool {
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
      return { outcome: "failed", text: `invalid arguments: ${z.prettifyError(parsed.error)}` };
    },
  };
}

/** A path or a command. System calls accept neither with a NUL character. */
export function textWithoutNul() {
  return z
    .string()
    .min(1)
    .refine((text) => !text.includes("\0"), "must not contain a NUL character");
}

/** Text for a file. Unpaired surrogates cannot be encoded in UTF-8. */
export function wellFormedText() {
  return z.string().refine((text) => text.isWellFormed(), "must not contain an unpaired surrogate");
}

export function okResult(text: string, more: Partial<ToolResult> = {}): ToolResult {
  return { ...more, outcome: "ok", text };
}
