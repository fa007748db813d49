/** The steps of a script, by name: each step is an object with one of these keys. */

import type { JsonObject, RpcError } from "../rpc.ts";
import type { AcpUpdate } from "../updates.ts";

/** A step: an object with exactly one key of `AcpSteps`. */
export type AcpStep = { [Name in keyof AcpSteps]: { readonly [Key in Name]: AcpSteps[Key] } }[keyof AcpSteps];

export interface AcpSteps {
  /** Sends text of the agent. A list is sent as separate chunks. */
  say: string | readonly string[];
  think: string | readonly string[];
  /** Sends any session update unchanged. */
  update: AcpUpdate;
  /** Runs the steps for another session. */
  in: { readonly session: string; readonly steps: readonly AcpStep[] };
  /** Runs the lists concurrently. Done when all are done. */
  atOnce: readonly (readonly AcpStep[])[];
  /** Ends the prompt with this stop reason. */
  stop: string;
  /** Ends the request with this error. */
  fail: RpcError;

  permission: AcpPermissionStep;
  /** Sent only if the client supports it, like the next three steps. `request` ignores capabilities. */
  readFile: Echo & { readonly path: string; readonly line?: number; readonly limit?: number };
  writeFile: Echo & { readonly path: string; readonly content: string };
  terminal: AcpTerminalStep;
  elicit: AcpElicitStep;
  /** Sends any request. Adds `sessionId` if the params have none. */
  request: Echo & { readonly method: string; readonly params?: JsonObject };
  /** Sends any notification unchanged. */
  notify: { readonly method: string; readonly params?: unknown };
  callMcp: AcpMcpStep;

  /** Waits this many milliseconds. */
  pause: number;
  /** Waits until a file with this path exists. */
  waitForFile: string;
  /** Creates an empty file that a test can wait for. */
  touch: string;
  /** Waits for a message with this method that arrives after the start of the request. */
  waitForMessage: string;
  /** Waits until the request is cancelled. */
  waitForCancel: true;
  /** Never ends, not even when the request is cancelled. */
  hang: true;
  /** Says `NAME=value`, or that the variable is not set. */
  environment: string;

  /** Writes these bytes unchanged, without adding a newline. */
  write: string | { readonly base64: string };
  /** Writes any JSON value as a line, such as an array or an unexpected response. */
  send: unknown;
  /** Sends text in two writes, split inside its first multi-byte character. */
  cut: { readonly text: string; readonly pauseMs?: number };
  /** Sends text whose line has this many bytes, without the newline. */
  oversize: number;
  /** Sends `count` numbered texts as fast as the client reads. */
  flood: { readonly count: number; readonly padding?: string };
  /** Pauses (`false`) or resumes (`true`) reading the input. */
  listen: boolean;
  stderr: string;
  exit: ExitStep;
  grandchild: AcpGrandchildStep;
}

export interface Echo {
  /** Whether the agent says the response, as `method: result as JSON`. Default: true. */
  readonly echo?: boolean;
}

export interface AcpPermissionStep extends Echo {
  /** Merged into `{ toolCallId: "call-1", title: "Do it" }`. */
  readonly toolCall?: JsonObject;
  /** Default: one option of each of the four kinds, with the kind as id. */
  readonly options?: readonly JsonObject[];
  /** Steps to run, by chosen option id or `cancelled`. */
  readonly on?: Readonly<Record<string, readonly AcpStep[]>>;
}

export interface AcpTerminalStep extends Echo {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly cwd?: string;
  readonly outputByteLimit?: number;
  /** Requests to send for the terminal, in order. Default: `wait_for_exit`, `output`, `release`. */
  readonly then?: readonly ("output" | "wait_for_exit" | "kill" | "release")[];
  /** First sends an update of this tool call that shows the terminal. */
  readonly toolCallId?: string;
}

export interface AcpElicitStep extends Echo {
  readonly message: string;
  /** The schema of the form. Default: one string called `answer`. */
  readonly requestedSchema?: JsonObject;
  /** Asks the user to open this page instead of a form. The agent sends `elicitation/complete` after the answer. */
  readonly url?: string;
}

export interface AcpMcpStep extends Echo {
  /** The name of an MCP server of the session. */
  readonly server: string;
  /** Default: lists the tools. */
  readonly tool?: string;
  readonly arguments?: JsonObject;
  /**
   * The dialect for a server over ACP. Default: `stateless` for a server of type `acp`, else `underscored`.
   * - `stateless`: `mcp/message` alone, by `serverId`
   * - `stateful`: `mcp/connect`, `mcp/message` and `mcp/disconnect`, by `connectionId`
   * - `underscored`: the same as `_mcp/*`, for a server whose `url` starts with `acp:`
   */
  readonly dialect?: "stateless" | "stateful" | "underscored";
}

export interface ExitStep {
  /** Default: 0. */
  readonly code?: number;
  /** Exits by this signal instead of a code. */
  readonly signal?: string;
}

/** A process that the agent starts and does not wait for. It exits by itself after 60 s. */
export interface AcpGrandchildStep {
  /** The process writes its id to this file when it is ready. */
  readonly pidFile: string;
  /** Inherits the agent's stdout and stderr. Default: false. */
  readonly holdsOutput?: boolean;
  readonly ignoresSigterm?: boolean;
  /** Starts in a new process group. Default: false. */
  readonly ownGroup?: boolean;
}
