/** Requests of an agent to a person (permissions and questions), and the answers. */
import type { FileDiff, ToolKind } from "./events.ts";

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
  /** Called before a person is asked. If it rejects, the person is asked without a preview. */
  readonly preview?: (() => Promise<CallPreview>) | undefined;
}

/** What is known about a tool call before it runs. */
export interface CallPreview {
  /** Why the call must fail. Nobody is asked about such a call, and the model gets this text. */
  readonly refusal?: string | undefined;
  /** The changes that the call would make to files. */
  readonly diffs?: readonly FileDiff[] | undefined;
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
  /** `failed`: the preview refused the call, so nobody was asked. */
  | { readonly allowed: false; readonly outcome: "denied" | "cancelled" | "failed"; readonly message: string };
