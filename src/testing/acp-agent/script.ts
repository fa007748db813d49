/** What a scripted ACP agent does, as plain data: a script can be written as JSON and given to a subprocess. */

import type { Steps } from "./steps/steps.ts";
import type { Update } from "./updates.ts";

export interface Script {
  /** Laid over what `initialize` usually answers: capabilities, agentInfo, protocolVersion. */
  readonly initialize?: JsonObject;
  /** Given: sessions are refused with -32000 until `authenticate` was called. */
  readonly auth?: AuthScript;
  /** Sessions from earlier, for load, resume, list, fork and delete. */
  readonly sessions?: readonly StoredSession[];
  /** A file that sessions are kept in, so that the next process with this script knows them. */
  readonly sessionsFile?: string;
  /** New sessions are called this and a number. Default: `session-`. */
  readonly sessionPrefix?: string;
  readonly modes?: ModesScript;
  readonly configOptions?: readonly ConfigOptionScript[];
  /** The models of old agents, which `session/set_model` changes. Left out: the method is unknown. */
  readonly models?: { readonly currentModelId: string; readonly availableModels: readonly JsonObject[] };
  /** How many sessions a page of `session/list` has. Default: 50. */
  readonly pageSize?: number;
  /** When `session/load` replays: before its response as it should, after it, or never. Default: `before`. */
  readonly replay?: "before" | "after" | "never";
  /** Done before anything is read. */
  readonly onStart?: readonly Step[];
  /** What each prompt does, in the order in which prompts arrive, whatever their session. */
  readonly prompts?: readonly Turn[];
  /** What prompts do when the list has nothing for them. Left out: the prompt fails, and the problem is told. */
  readonly otherwise?: Turn;
  /** What is done around other requests and on notifications, by method; a list gives each call its own. */
  readonly on?: Readonly<Record<string, Handling | readonly Handling[]>>;
  /** What the ids of the agent's own requests are. Default: numbers. */
  readonly ids?: "number" | "string";
  /** A file that everything which happens to the agent is appended to, a JSON value a line. */
  readonly record?: string;
  /** How the process itself is stubborn. */
  readonly process?: ProcessScript;
}

/** An object with exactly one key. */
export type Step = { [Name in keyof Steps]: { readonly [Key in Name]: Steps[Key] } }[keyof Steps];

/** A list of steps, or one with an unusual answer, an aftermath, or its own way to be cancelled. */
export type Turn = readonly Step[] | TurnScript;

export interface TurnScript extends Handling {
  /** Only a prompt whose text contains this takes the turn. */
  readonly when?: string;
  /**
   * Instead of the turn's own answer and aftermath. Left out: the prompt is answered with stop reason `cancelled`, once
   * the permissions that are pending have been answered.
   */
  readonly onCancel?: "ignore" | Handling;
}

/** How one message is treated. Steps come before the answer, `after` comes behind it. */
export interface Handling {
  readonly steps?: readonly Step[];
  readonly answer?: Answer;
  readonly after?: readonly Step[];
}

/** What is answered instead of the usual. */
export interface Answer {
  readonly result?: unknown;
  /** Laid over the usual result. */
  readonly merge?: JsonObject;
  readonly error?: RpcError;
  /** Instead of the request's own id. */
  readonly id?: unknown;
  /** How often: 0 is never, 2 is a doubled response. Default: 1. */
  readonly times?: number;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface AuthScript {
  /** Default: one agent method called `scripted`. */
  readonly methods?: readonly JsonObject[];
  /** Who finds this file is authenticated: how a login in a terminal reaches the next process. */
  readonly file?: string;
}

export interface StoredSession {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  readonly title?: string;
  readonly updatedAt?: string;
  readonly history?: readonly Update[];
}

export interface ModesScript {
  readonly currentModeId: string;
  readonly availableModes: readonly { readonly id: string; readonly name: string; readonly description?: string }[];
}

export interface ConfigOptionScript {
  readonly type: "select" | "boolean";
  readonly id: string;
  readonly name: string;
  readonly category?: string;
  readonly description?: string;
  readonly currentValue: string | boolean;
  /** Of a select: values, or groups of them. */
  readonly options?: readonly JsonObject[];
}

export interface ProcessScript {
  /** Stays although its input has ended. */
  readonly ignoreEof?: boolean;
  /** Stays although it is asked to go with SIGTERM; that it was asked is recorded. */
  readonly ignoreSigterm?: boolean;
  /** Never reads its input. */
  readonly deaf?: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;
