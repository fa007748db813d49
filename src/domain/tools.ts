/** The port of tools. A source lists its tools and runs their calls. */
import type { BlobPart, EventBody, FileDiff, Location, ToolKind, ToolOutcome } from "./events.ts";
import type { AskOptions, CallPreview, Question, QuestionAnswer } from "./person-requests.ts";

export interface ToolSource {
  readonly id: string;
  list(): readonly ToolSpec[];
  /** Describes a call for people before it runs. Must not throw. */
  describe(call: ToolCall): ToolDescription;
  /**
   * Checks a call before a person is asked about it, and computes the changes that it would make. Must change nothing.
   * `call` checks again, because files may change until the person answers.
   */
  preview?(call: ToolCall, context: Pick<ToolContext, "cwd" | "signal">): Promise<CallPreview>;
  /** Runs a call. A failure of the call is an outcome, not a rejection. */
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  /** Calls the listener when the list changes. Returns a function that removes it. */
  onChange?(listener: () => void): () => void;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly kind: ToolKind;
  /** The tool changes nothing: it needs no permission inside the working directory, and may run again after a crash. */
  readonly readOnly: boolean;
  /** The tool may run again after a crash although it changes something, because it detects what it has done. */
  readonly repeatable?: boolean | undefined;
  /** Whether it may run in parallel with other calls of the same reply. Default: the value of `readOnly`. */
  readonly concurrent?: boolean | undefined;
  /**
   * The timeout of a call in milliseconds, without the time that people need to answer. `Infinity` means none.
   * Default: the agent's timeout.
   */
  readonly timeoutMs?: number | undefined;
  /** Hints of the tool's provider, for choosing tools. They grant no permission. */
  readonly hints?: ToolHints | undefined;
  /** For people. */
  readonly title?: string | undefined;
  /** JSON Schema of `structured` in a result. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** The model finds the tool by searching instead of getting it at the start. */
  readonly defer?: boolean | undefined;
}

export interface ToolHints {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
}

export interface ToolCall {
  readonly toolId: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolDescription {
  readonly title: string;
  readonly locations?: readonly Location[];
}

export interface ToolContext {
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Records an event and resolves when it is durable. */
  record(body: EventBody): Promise<void>;
  /** Reports progress. Texts may be merged. */
  progress(text: string): void;
  /** Set in the environment of every child process, so that it is found after its owner's death. */
  readonly marker: string;
  /** Resolves with a person's answer, or with `decline` if nobody can be asked. Rejects when the signal fires. */
  ask(question: Question, options?: AskOptions): Promise<QuestionAnswer>;
  /** Stores bytes beside the log and resolves with their hash. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Resolves with undefined if the bytes do not exist. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;
  /** The ID of this call. */
  readonly toolId?: string | undefined;
  readonly turnId?: string | undefined;
  /**
   * Calls another tool of the agent's catalog, through the session's permission gate and as a separate effect.
   * Returns the result from before a crash if the same call was made then. Rejects only if the turn is cancelled or
   * the log is broken. Undefined if other tools cannot be called.
   */
  readonly call?: ((name: string, input: unknown) => Promise<ToolResult>) | undefined;
  /** The tools that `call` accepts: those from the start of the turn. */
  readonly catalog?: ReadonlyMap<string, ToolSpec> | undefined;
}

export interface ToolResult {
  readonly outcome: ToolOutcome;
  /** The result for the model and for people. The tool limits its length. */
  readonly text: string;
  readonly locations?: Location[];
  readonly diffs?: FileDiff[];
  /** Images and files of the result, and texts that are too long for the log. */
  readonly blobs?: BlobPart[];
  /** Matches the tool's `outputSchema`. */
  readonly structured?: unknown;
}
