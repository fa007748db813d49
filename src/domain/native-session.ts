/** Sessions that a program keeps itself, started outside of Rookery, and how their history is imported. */
import type { AdoptableBackend } from "./enums.ts";
import type { EventBody } from "./events.ts";

/** Names a session of a program. */
export interface NativeSessionName {
  readonly backend: AdoptableBackend;
  /** The program's own ID. */
  readonly nativeId: string;
}

/** A session of a program, in a list to choose from. */
export interface NativeSessionSummary extends NativeSessionName {
  readonly cwd: string;
  readonly updatedAt: string;
  /** The program's title, or the first line of the first prompt. */
  readonly title?: string | undefined;
}

/** An event that a program's history describes, with the time at which it happened. */
export interface ImportedEvent {
  readonly at: string;
  readonly turnId?: string | undefined;
  readonly body: EventBody;
}

/** The history of one session, ready to be read. */
export interface NativeConversation extends AsyncDisposable {
  readonly nativeId: string;
  /** The working directory of the session. */
  readonly cwd: string;
  readonly title?: string | undefined;
  /** The version of the program that wrote it. */
  readonly version?: string | undefined;
  /** When the conversation started, in ISO 8601. */
  readonly startedAt: string;
  /**
   * Yields the events, oldest first. Every turn starts and ends. `putBlob` stores the bytes of attachments and resolves
   * with their hash.
   */
  read(putBlob: (bytes: Uint8Array) => Promise<string>): AsyncIterable<ImportedEvent>;
}
