/** What a session's client does for the agent: each handler it has is a request it serves. */
import { invalidParams, methodNotFound } from "../errors.ts";
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";

type MaybePromise<T> = T | Promise<T>;

export interface RequestContext {
  readonly sessionId: string | undefined;
  /** Fires when the request is cancelled: by the agent, with its turn, or with the connection. */
  readonly signal: AbortSignal;
}

export interface TerminalHandlers {
  create(params: acp.CreateTerminalRequest, context: RequestContext): MaybePromise<acp.CreateTerminalResponse>;
  output(params: acp.TerminalOutputRequest, context: RequestContext): MaybePromise<acp.TerminalOutputResponse>;
  waitForExit(
    params: acp.WaitForTerminalExitRequest,
    context: RequestContext,
  ): MaybePromise<acp.WaitForTerminalExitResponse>;
  kill(params: acp.KillTerminalRequest, context: RequestContext): MaybePromise<acp.KillTerminalResponse>;
  release(params: acp.ReleaseTerminalRequest, context: RequestContext): MaybePromise<acp.ReleaseTerminalResponse>;
}

export interface SessionHandlers {
  permission?(
    params: acp.RequestPermissionRequest,
    context: RequestContext,
  ): MaybePromise<acp.RequestPermissionResponse>;
  readTextFile?(params: acp.ReadTextFileRequest, context: RequestContext): MaybePromise<acp.ReadTextFileResponse>;
  writeTextFile?(params: acp.WriteTextFileRequest, context: RequestContext): MaybePromise<acp.WriteTextFileResponse>;
  readonly terminal?: TerminalHandlers | undefined;
  elicitation?(
    params: acp.CreateElicitationRequest,
    context: RequestContext,
  ): MaybePromise<acp.CreateElicitationResponse>;
  /** Any other request. Without it they get -32601. */
  request?(request: IncomingRequest): unknown;
  /** Any notification but `session/update`. */
  notification?(notification: IncomingNotification): MaybePromise<void>;
}

/** What a client that has these says of itself. */
export function capabilitiesOf(handlers: SessionHandlers): acp.ClientCapabilities {
  return {
    fs: { readTextFile: handlers.readTextFile !== undefined, writeTextFile: handlers.writeTextFile !== undefined },
    terminal: handlers.terminal !== undefined,
    ...(handlers.elicitation !== undefined && { elicitation: { form: {}, url: {} } }),
    session: { configOptions: { boolean: {} } },
  };
}

export const CANCELLED_PERMISSION: acp.RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
export const CANCELLED_ELICITATION: acp.CreateElicitationResponse = { action: "cancel" };

/** Throws -32601 where there is no handler, and -32602 where the params are no object. */
export function serve(handlers: SessionHandlers, request: IncomingRequest, context: RequestContext): unknown {
  const { method, params } = request;
  const run = serverOf(handlers, method);
  if (run === undefined) {
    if (handlers.request !== undefined) return handlers.request(request);
    throw methodNotFound(method);
  }
  if (typeof params !== "object" || params === null) throw invalidParams(`${method} takes an object`);
  return run(params, context);
}

/** Undefined where the method is not one of these, or nobody serves it. */
function serverOf(
  handlers: SessionHandlers,
  method: string,
): ((params: object, c: RequestContext) => unknown) | undefined {
  const { terminal } = handlers;
  switch (method) {
    case "session/request_permission":
      return handlers.permission && ((p, c) => handlers.permission?.(p as acp.RequestPermissionRequest, c));
    case "fs/read_text_file":
      return handlers.readTextFile && ((p, c) => handlers.readTextFile?.(p as acp.ReadTextFileRequest, c));
    case "fs/write_text_file":
      return handlers.writeTextFile && ((p, c) => handlers.writeTextFile?.(p as acp.WriteTextFileRequest, c));
    case "elicitation/create":
      return handlers.elicitation && ((p, c) => handlers.elicitation?.(p as acp.CreateElicitationRequest, c));
    case "terminal/create":
      return terminal && ((p, c) => terminal.create(p as acp.CreateTerminalRequest, c));
    case "terminal/output":
      return terminal && ((p, c) => terminal.output(p as acp.TerminalOutputRequest, c));
    case "terminal/wait_for_exit":
      return terminal && ((p, c) => terminal.waitForExit(p as acp.WaitForTerminalExitRequest, c));
    case "terminal/kill":
      return terminal && ((p, c) => terminal.kill(p as acp.KillTerminalRequest, c));
    case "terminal/release":
      return terminal && ((p, c) => terminal.release(p as acp.ReleaseTerminalRequest, c));
    default:
      return undefined;
  }
}

/** Of the params of any message that belongs to a session. */
export function sessionIdOf(params: unknown): string | undefined {
  const id = (params as { sessionId?: unknown } | null | undefined)?.sessionId;
  return typeof id === "string" ? id : undefined;
}
