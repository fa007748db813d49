/** The words of a script: each step is an object with one of these keys. */

import type { JsonObject, RpcError, Step } from "../script.ts";
import type { Update } from "../updates.ts";

export interface Steps {
  /** A text of the agent; a list is sent in these pieces. */
  say: string | readonly string[];
  think: string | readonly string[];
  /** Any session update, sent as it is. */
  update: Update;
  /** The steps in the name of another session. */
  in: { readonly session: string; readonly steps: readonly Step[] };
  /** The lists side by side; done when all are. */
  atOnce: readonly (readonly Step[])[];

  permission: PermissionStep;
  /** Any request to the client, as it is. `sessionId` is added when the params have none. */
  request: RequestStep;
  /** Any notification, as it is. */
  notify: { readonly method: string; readonly params?: unknown };

  /** Ends the prompt with this stop reason. */
  stop: string;
  /** Ends the request with this error. */
  fail: RpcError;
}

export interface Echo {
  /** Whether what came back is said by the agent, as `method: result as JSON`. Default: true. */
  readonly echo?: boolean;
}

export interface PermissionStep extends Echo {
  /** Default: a call named after its number. */
  readonly toolCall?: JsonObject;
  /** Default: one of each of the four kinds, each with its kind as id. */
  readonly options?: readonly JsonObject[];
  /** Steps by the option chosen, or for `cancelled`. */
  readonly on?: Readonly<Record<string, readonly Step[]>>;
}

export interface RequestStep extends Echo {
  readonly method: string;
  readonly params?: JsonObject;
}
