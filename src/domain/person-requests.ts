/** What an agent asks a person: permissions and questions, and the answers to them. */
import type { ToolKind } from "./events.ts";

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Resolves when the question has become unnecessary; it then counts as accepted. */
  readonly completed?: Promise<void> | undefined;
}

export interface PermissionRequest {
  readonly toolId: string;
  readonly tool: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  readonly input: unknown;
  /** The asker. Default: the agent itself. */
  readonly from?: string | undefined;
}

export interface Question {
  readonly message: string;
  /** Who asks, if not the agent itself. */
  readonly from?: string | undefined;
  /** JSON Schema of the answer's content. */
  readonly schema?: unknown;
  /** A URL for the person to open instead of filling in a form. */
  readonly url?: string | undefined;
}

export interface QuestionAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: unknown;
}

export type PermissionDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly outcome: "denied" | "cancelled"; readonly message: string };
