/** Defines one tool of the built-in agent: what a model sees of it, and what it does. */
import { z } from "zod";
import type { CallPreview, ToolContext, ToolDescription, ToolKind, ToolResult, ToolSpec } from "../../domain/index.ts";
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

/** The part of the context that exists before a call runs. */
export type PreviewContext = Pick<CodingToolContext, "cwd" | "signal" | "folders" | "seen" | "background">;

export interface CodingTool extends ToolTraits {
  readonly input: z.ZodType;
  describe(input: unknown): ToolDescription;
  /** Rejects like `run` if the call must fail, except for invalid arguments. */
  preview(input: unknown, context: PreviewContext): Promise<CallPreview>;
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
   * Checks what can be checked before a person is asked, and changes nothing. Throws what `run` would throw. `run` must
   * check again. Not needed for a read-only tool, about which nobody is asked.
   */
  preview?(input: Input, context: PreviewContext): Promise<CallPreview> | CallPreview;
  /**
   * May throw a ToolRefusal, a PathRefusal or a system error. Each becomes a failed outcome with the error's message.
   */
  run(input: Input, context: CodingToolContext): Promise<ToolResult>;
}

/** Timeout of tools that only read files. */
export const FILE_TIMEOUT_MS = 60_000;

/** Validates the arguments before `describe`, `preview` and `run` get them. */
export function defineTool<Input>(definition: CodingToolDefinition<Input>): CodingTool {
  const { name, input: schema } = definition;
  return {
    ...definition,
    describe(input) {
      const parsed = schema.safeParse(input);
      return parsed.success ? definition.describe(parsed.data) : { title: name };
    },
    async preview(input, context) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) return { refusal: formatInvalidArguments(parsed.error) };
      return (await definition.preview?.(parsed.data, context)) ?? {};
    },
    async run(input, context) {
      const parsed = schema.safeParse(input);
      if (parsed.success) return definition.run(parsed.data, context);
      return { outcome: "failed", text: formatInvalidArguments(parsed.error) };
    },
  };
}

function formatInvalidArguments(error: z.ZodError): string {
  return `invalid arguments: ${z.prettifyError(error)}`;
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
