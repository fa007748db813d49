/**
 * The interface that the scenarios require of an implementation. Each adapter follows the implementation's
 * documentation.
 */

import type { Message, Wire } from "./test-peer.ts";

export interface Subject {
  readonly name: string;
  /** Connects as a client and initializes the agent. */
  connectClient(wire: Wire, options?: ClientOptions): Promise<SubjectClient>;
  /** Starts a command as an agent, connects as a client and initializes it. */
  spawnClient(command: string, args: readonly string[], where: SpawnOptions): Promise<SubjectClient>;
  /** Serves as an agent with typed handlers for these methods, and answers `initialize`. */
  serveAgent(wire: Wire, handlers: AgentHandlers): void;
  /** Serves as a proxy that waits for `beforeAnswer` before it passes the agent's response on. */
  serveProxy(client: Wire, agent: Wire, beforeAnswer: () => Promise<void>): void;
}

export interface SpawnOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

export interface ClientOptions {
  readonly maxMessageBytes?: number;
  /** Gets every notification that nothing else handles. */
  readonly onNotification?: (method: string, params: unknown) => Promise<void> | void;
}

export interface SubjectClient {
  request(method: string, params: unknown): Promise<Reply>;
  newSession(params: { readonly cwd: string }): Promise<SubjectSession>;
  close(): Promise<void>;
}

export interface SubjectSession {
  /** Sends a prompt without waiting. */
  prompt(text: string): void;
  /** The params of the next `session/update` of this session. */
  next(): Promise<unknown>;
}

export interface AgentHandlers {
  readonly "session/new"?: (params: unknown) => Promise<{ readonly sessionId: string }>;
  readonly "session/prompt"?: (params: unknown) => Promise<{ readonly stopReason: "end_turn" }>;
}

/** The outcome of a request: the peer's answer, or a local failure. */
export type Reply =
  { readonly result: unknown } | { readonly error: NonNullable<Message["error"]> } | { readonly failure: Error };
