/** Attaching to a session that somebody else's request created. */
import { RookeryError } from "../../domain/errors.ts";
import { Verbatim } from "../connection/incoming.ts";
import type { SessionOptions } from "./session-handlers.ts";

export interface AttachOptions {
  /** The agent's answer to the request that created or loaded the session. */
  readonly response: { readonly sessionId: string } & Readonly<Record<string, unknown>>;
  /** Handlers for this session. */
  readonly serve?: SessionOptions | undefined;
}

/** Throws `input_invalid` if the response has no session id. */
export function requireAttachedId(response: unknown): string {
  const { sessionId } = (response ?? {}) as { sessionId?: unknown };
  if (typeof sessionId === "string" && sessionId !== "") return sessionId;
  const message = "attach needs the response to the request that created the session: it has no session id";
  throw new RookeryError("input_invalid", message);
}

export function sessionInUse(id: string): RookeryError {
  return new RookeryError("session_in_use", `session ${id} is already open on this connection`);
}

/** The response as it would be on the wire. */
export function toVerbatim(result: unknown): Verbatim {
  return new Verbatim(`{"jsonrpc":"2.0","id":0,"result":${JSON.stringify(result)}}`, { result });
}

/** Throws `input_invalid` if the current directory does not exist. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new RookeryError("input_invalid", "the current directory does not exist: pass another one", { cause });
  }
}
