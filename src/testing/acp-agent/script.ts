/** The script of an ACP agent. It is plain data, so it can be passed to a subprocess as JSON. */

import type { AcpUpdate } from "./updates.ts";
import type { JsonObject, RpcError } from "./rpc.ts";
import type { AcpStep } from "./steps/steps.ts";

export interface AcpScript {
  /** Merged into the default result of `initialize`: capabilities, agentInfo, protocolVersion. */
  readonly initialize?: JsonObject;
  /** If present, session methods fail with -32000 until the client calls `authenticate`. */
  readonly auth?: AcpAuthScript;
  /** Stored sessions, for load, resume, list, fork and delete. */
  readonly sessions?: readonly AcpStoredSession[];
  /** A file to store sessions in, so that the next process with this script knows them. */
  readonly sessionsFile?: string;
  /** The prefix of new session ids, before a number. Default: `session-`. */
  readonly sessionPrefix?: string;
  readonly modes?: AcpModesScript;
  readonly configOptions?: readonly AcpConfigOptionScript[];
  /** The models of an old agent, for `session/set_model`. Default: the method is unknown. */
  readonly models?: { readonly currentModelId: string; readonly availableModels: readonly JsonObject[] };
  /** The page size of `session/list`. Default: 50. */
  readonly pageSize?: number;
  /** When `session/load` replays the history. The protocol requires `before` the response. Default: `before`. */
  readonly replay?: "before" | "after" | "never";
  /** Steps to run before the agent reads its input. */
  readonly onStart?: readonly AcpStep[];
  /** The turns of the prompts of all sessions, in order of arrival. */
  readonly prompts?: readonly AcpTurn[];
  /** The turn of a prompt that has none in `prompts`. Default: the prompt fails, and the agent records a problem. */
  readonly otherwise?: AcpTurn;
  /** How to handle other requests and notifications, by method. A list has one entry per call. */
  readonly on?: Readonly<Record<string, AcpHandling | readonly AcpHandling[]>>;
  /** The type of the ids of the agent's requests. Default: `number`. */
  readonly ids?: "number" | "string";
  /** A file to append the agent's record to, one JSON value per line. */
  readonly record?: string;
  /** Signals and input that the process ignores. */
  readonly process?: AcpProcessScript;
}

/** A list of steps, or an object that also controls the answer, later steps or the handling of a cancel. */
export type AcpTurn = readonly AcpStep[] | AcpTurnScript;

export interface AcpTurnScript extends AcpHandling {
  /** The turn is only for a prompt whose text contains this. */
  readonly when?: string;
  /**
   * Replaces `answer` and `after` when the turn is cancelled. Default: waits for the answers to pending permission
   * requests, then answers with stop reason `cancelled`.
   */
  readonly onCancel?: "ignore" | AcpHandling;
}

/** How to handle one message: `steps` run before the answer, `after` runs after it. */
export interface AcpHandling {
  readonly steps?: readonly AcpStep[];
  readonly answer?: AcpAnswer;
  readonly after?: readonly AcpStep[];
}

/** Changes to the default answer. */
export interface AcpAnswer {
  readonly result?: unknown;
  /** Merged into the default result. */
  readonly merge?: JsonObject;
  readonly error?: RpcError;
  /** The id to answer with. Default: the id of the request. */
  readonly id?: unknown;
  /** How many times to send the answer. Default: 1. */
  readonly times?: number;
}

export interface AcpAuthScript {
  /** Default: one agent method called `scripted`. */
  readonly methods?: readonly JsonObject[];
  /** If this file exists, the client is authenticated. A login in a terminal creates it. */
  readonly file?: string;
}

export interface AcpStoredSession {
  readonly sessionId: string;
  /** Absolute. */
  readonly cwd: string;
  readonly title?: string;
  readonly updatedAt?: string;
  readonly history?: readonly AcpUpdate[];
}

export interface AcpModesScript {
  readonly currentModeId: string;
  readonly availableModes: readonly { readonly id: string; readonly name: string; readonly description?: string }[];
}

export interface AcpConfigOptionScript {
  readonly type: "select" | "boolean";
  readonly id: string;
  readonly name: string;
  readonly category?: string;
  readonly description?: string;
  readonly currentValue: string | boolean;
  /** The values of a `select`, or groups of values. */
  readonly options?: readonly JsonObject[];
}

export interface AcpProcessScript {
  /** Keeps running when its input ends. Default: false. */
  readonly ignoreEof?: boolean;
  /** Ignores SIGTERM, but records it. Default: false. */
  readonly ignoreSigterm?: boolean;
  /** Never reads its input. Default: false. */
  readonly deaf?: boolean;
}
