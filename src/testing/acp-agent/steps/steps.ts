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
  /** Ends the prompt with this stop reason. */
  stop: string;
  /** Ends the request with this error. */
  fail: RpcError;

  permission: PermissionStep;
  /** Only when the client offers it, as with the next three; `request` asks whatever was offered. */
  readFile: Echo & { readonly path: string; readonly line?: number; readonly limit?: number };
  writeFile: Echo & { readonly path: string; readonly content: string };
  terminal: TerminalStep;
  elicit: ElicitStep;
  /** Any request, as it is but for `sessionId`, which is added when the params have none. */
  request: Echo & { readonly method: string; readonly params?: JsonObject };
  /** Any notification, as it is. */
  notify: { readonly method: string; readonly params?: unknown };
  callMcp: McpStep;

  /** Milliseconds. */
  pause: number;
  /** Until a file with this path is there. */
  waitForFile: string;
  /** Creates the file, so that a test sees how far the agent is. */
  touch: string;
  /** Until a message with this method arrives, or has since the request began. */
  waitForMessage: string;
  /** Until the request is cancelled. */
  waitForCancel: true;
  /** For ever: not even a cancel ends it. */
  hang: true;
  /** Says `NAME=value`, or that it is not set. */
  environment: string;

  /** Bytes as they are, with no line end of their own. */
  write: string | { readonly base64: string };
  /** Any JSON value as a line: a list, a response that nobody asked for. */
  send: unknown;
  /** A text of the agent that is cut in the middle of its first character of several bytes. */
  cut: { readonly text: string; readonly pauseMs?: number };
  /** A text of the agent whose line is this many bytes long without its end. */
  oversize: number;
  /** That many numbered texts of the agent, as fast as the client reads. */
  flood: { readonly count: number; readonly padding?: string };
  /** Stops reading the input, or goes on with it. */
  listen: boolean;
  stderr: string;
  exit: ExitStep;
  grandchild: GrandchildStep;
}

export interface Echo {
  /** Whether what came back is said by the agent, as `method: result as JSON`. Default: true. */
  readonly echo?: boolean;
}

export interface PermissionStep extends Echo {
  /** Laid over `{ toolCallId: "call-1", title: "Do it" }`. */
  readonly toolCall?: JsonObject;
  /** Default: one of each of the four kinds, each with its kind as id. */
  readonly options?: readonly JsonObject[];
  /** Steps by the option chosen, or for `cancelled`. */
  readonly on?: Readonly<Record<string, readonly Step[]>>;
}

export interface TerminalStep extends Echo {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly cwd?: string;
  readonly outputByteLimit?: number;
  /** What is asked of it in turn. Default: `wait_for_exit`, `output`, `release`. */
  readonly then?: readonly ("output" | "wait_for_exit" | "kill" | "release")[];
  /** Shows the terminal in an update of this tool call first. */
  readonly toolCallId?: string;
}

export interface ElicitStep extends Echo {
  readonly message: string;
  /** A form. Default: one text called `answer`. */
  readonly requestedSchema?: JsonObject;
  /** A page instead of a form; `elicitation/complete` follows the answer. */
  readonly url?: string;
}

export interface McpStep extends Echo {
  /** The name of a server that the session was set up with. */
  readonly server: string;
  /** Left out: the tools are listed. */
  readonly tool?: string;
  readonly arguments?: JsonObject;
  /**
   * How a server that is reached over ACP is spoken to. Default: by its declaration.
   * - `stateless`: `mcp/message` alone, by `serverId`
   * - `stateful`: `mcp/connect`, `mcp/message` and `mcp/disconnect`, by `connectionId`
   * - `underscored`: the same as `_mcp/*`, for a server whose `url` starts with `acp:`
   */
  readonly dialect?: "stateless" | "stateful" | "underscored";
}

export interface ExitStep {
  /** Default: 0. */
  readonly code?: number;
  /** Instead of a code. */
  readonly signal?: string;
}

/** A process that the agent starts and forgets. It ends by itself after a minute. */
export interface GrandchildStep {
  /** Written when it is ready. */
  readonly pidFile: string;
  /** Keeps the agent's output open. */
  readonly holdsOutput?: boolean;
  readonly ignoresSigterm?: boolean;
  /** In a process group of its own. */
  readonly ownGroup?: boolean;
}
