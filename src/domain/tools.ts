/** The port of tools: a source lists what it offers and runs a call. */
import type { AskOptions, Question, QuestionAnswer } from "./backend.ts";
import type { BlobPart, EventBody, FileDiff, Location, ToolKind, ToolOutcome } from "./events.ts";

export interface ToolSource {
  readonly id: string;
  list(): readonly ToolSpec[];
  /** What a call is about, for people, before it runs. Must not throw. */
  describe(call: ToolCall): ToolDescription;
  /** Must not reject for what the call itself did wrong: that is an outcome. */
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
  /** Tells when the list changed; returns how to stop being told. */
  onChange?(listener: () => void): () => void;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly kind: ToolKind;
  /** Changes nothing: needs no permission inside the working folder, and may run again after a crash. */
  readonly readOnly: boolean;
  /** Though it changes something, it may run again after a crash: it finds out by itself what it had done. */
  readonly repeatable?: boolean | undefined;
  /** May run beside other calls of the same reply; left out, what is read-only may. */
  readonly concurrent?: boolean | undefined;
  /** How long a call may take, time to ask people not counted; the agent's own limit where it is left out, `Infinity`: for ever. */
  readonly timeoutMs?: number | undefined;
  /** Hints of whoever offers it, for choosing among tools; nothing is allowed because of them. */
  readonly hints?: ToolHints | undefined;
  /** For people. */
  readonly title?: string | undefined;
  /** JSON Schema of what `structured` of a result holds. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** Found by searching instead of being told to the model from the start. */
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
  /** Records an event now and resolves when it is durable. */
  record(body: EventBody): Promise<void>;
  /** Shows progress; may be merged with what follows. */
  progress(text: string): void;
  /** Put in the environment of every child, so that it is found after its owner's death. */
  readonly marker: string;
  /** Waits for a person's answer; where nobody can be asked it is declined. Rejects when the signal fires. */
  ask(question: Question, options?: AskOptions): Promise<QuestionAnswer>;
  /** Keeps bytes beside the log and answers with what they are called there. */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Undefined where they are gone. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;
  /** Of the call itself. */
  readonly toolId?: string | undefined;
  readonly turnId?: string | undefined;
  /**
   * Calls another tool of the agent's catalog, through the session's gate and as an effect of its own. What came of it
   * before a crash is taken, if the same call was made then. Never rejects but for a cancelled turn or a broken log.
   * Left out where there is nobody to do it.
   */
  readonly call?: ((name: string, input: unknown) => Promise<ToolResult>) | undefined;
  /** The tools that `call` can call: those of the turn, also if the agent's tools changed since it started. */
  readonly catalog?: ReadonlyMap<string, ToolSpec> | undefined;
}

export interface ToolResult {
  readonly outcome: ToolOutcome;
  /** For the model and for people; bounded by the tool. */
  readonly text: string;
  readonly locations?: Location[];
  readonly diffs?: FileDiff[];
  /** Images and files that came with it, and texts that are too long for the log. */
  readonly blobs?: BlobPart[];
  /** As the tool's `outputSchema` has it. */
  readonly structured?: unknown;
}
