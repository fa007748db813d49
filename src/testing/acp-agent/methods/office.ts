/** What the methods of an agent work with, and what they give back. */

import type { Client } from "../client.ts";
import type { JsonObject, Script } from "../script.ts";
import type { Session, Sessions } from "../sessions.ts";

export interface Office {
  readonly script: Script;
  readonly sessions: Sessions;
  readonly client: Client;
  authenticated: boolean;
  /** Ends the prompt of a session, if it has one, as cancelled. */
  endTurn(sessionId: string): Promise<void>;
}

/** What a well-behaved agent does with a request, before a script lays its own over it. */
export interface Usual {
  readonly result: JsonObject;
  readonly session?: Session;
  /** What has to be over before the answer. */
  readonly first?: Promise<void>;
  /** Whether the session's history goes before the answer. */
  readonly replays?: boolean;
}

/** Refuses by throwing a `Refusal`. */
export type Method = (params: JsonObject, office: Office) => Usual;
