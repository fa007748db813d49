/** What a session's client does for the agent: each handler it has is a request it serves. */
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import type { UpdateHandler } from "./buffer/ordered-delivery.ts";
import { validateClientParams } from "./routing/request-params.ts";

export interface RequestContext {
  /** Undefined where the request belongs to no session. */
  readonly sessionId: string | undefined;
  /** Fires when the answer is of no use any more: the agent took its request back, its turn was cancelled, or it is gone. */
  readonly signal: AbortSignal;
}

/** Answers with what it returns. A `PeerError` that it throws is answered as it is, anything else as an internal error. */
type Handler<Params, Result> = (params: Params, context: RequestContext) => Result | Promise<Result>;

export interface TerminalHandlers {
  readonly create: Handler<acp.CreateTerminalRequest, acp.CreateTerminalResponse>;
  readonly output: Handler<acp.TerminalOutputRequest, acp.TerminalOutputResponse>;
  readonly waitForExit: Handler<acp.WaitForTerminalExitRequest, acp.WaitForTerminalExitResponse>;
  readonly kill: Handler<acp.KillTerminalRequest, acp.KillTerminalResponse>;
  readonly release: Handler<acp.ReleaseTerminalRequest, acp.ReleaseTerminalResponse>;
}

/**
 * What is left out is refused with -32601. Params that lack what the protocol wants are refused with -32602 before a
 * handler sees them; whatever else they carry is there.
 */
export interface SessionHandlers {
  /** When the turn is cancelled the agent is answered at once, whatever this does then. */
  readonly permission?: Handler<acp.RequestPermissionRequest, acp.RequestPermissionResponse> | undefined;
  readonly readTextFile?: Handler<acp.ReadTextFileRequest, acp.ReadTextFileResponse> | undefined;
  readonly writeTextFile?: Handler<acp.WriteTextFileRequest, acp.WriteTextFileResponse> | undefined;
  readonly terminal?: TerminalHandlers | undefined;
  /** When the turn is cancelled the agent is answered at once, whatever this does then. */
  readonly elicitation?: Handler<acp.CreateElicitationRequest, acp.CreateElicitationResponse> | undefined;
  /** Any other request, such as one of an extension. */
  readonly request?: ((request: IncomingRequest, context: RequestContext) => unknown) | undefined;
  /** Any notification but `session/update`. */
  readonly notification?: ((notification: IncomingNotification) => void | Promise<void>) | undefined;
}

export interface SessionOptions extends SessionHandlers {
  /**
   * Takes each update as it comes, in the place of a reader: iterating over a turn gives none then. The next one waits
   * until it is done, and so do requests of the session and the turn's response. What it throws ends the session here:
   * the turn fails with it, and so does every other prompt.
   */
  readonly update?: UpdateHandler | undefined;
  /**
   * A request that no handler takes is refused, or is an item for the reader to answer. Default: `refuse`. One that comes
   * before the session is set up is refused in any case, because nobody can read it yet.
   */
  readonly unhandled?: "refuse" | "read" | undefined;
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

/** What `over` does not say is as in `under`; either may be an object of a class. */
export function mergeSessionOptions(under: SessionOptions, over: SessionOptions): SessionOptions {
  const chosen = <Key extends keyof SessionOptions>(key: Key): SessionOptions[Key] => {
    const from = over[key] === undefined ? under : over;
    const value: unknown = from[key];
    return (typeof value === "function" ? value.bind(from) : value) as SessionOptions[Key];
  };
  return {
    permission: chosen("permission"),
    readTextFile: chosen("readTextFile"),
    writeTextFile: chosen("writeTextFile"),
    terminal: chosen("terminal"),
    elicitation: chosen("elicitation"),
    request: chosen("request"),
    notification: chosen("notification"),
    update: chosen("update"),
    unhandled: chosen("unhandled"),
  };
}

/** What serves the request; undefined where nobody does. Throws -32602. */
export function findSessionHandler(
  handlers: SessionHandlers,
  request: IncomingRequest,
): ((context: RequestContext) => unknown) | undefined {
  const { method, params } = request;
  const typed = findTypedHandler(handlers, method);
  if (typed !== undefined) {
    validateClientParams(method, params); // the rest of its type is the agent's word
    return (context) => (typed as Handler<unknown, unknown>)(params, context);
  }
  const { request: other } = handlers;
  return other && ((context) => other.call(handlers, request, context));
}

function findTypedHandler(handlers: SessionHandlers, method: string): unknown {
  const { terminal } = handlers;
  switch (method) {
    case "session/request_permission":
      return handlers.permission?.bind(handlers);
    case "fs/read_text_file":
      return handlers.readTextFile?.bind(handlers);
    case "fs/write_text_file":
      return handlers.writeTextFile?.bind(handlers);
    case "elicitation/create":
      return handlers.elicitation?.bind(handlers);
    case "terminal/create":
      return terminal?.create.bind(terminal);
    case "terminal/output":
      return terminal?.output.bind(terminal);
    case "terminal/wait_for_exit":
      return terminal?.waitForExit.bind(terminal);
    case "terminal/kill":
      return terminal?.kill.bind(terminal);
    case "terminal/release":
      return terminal?.release.bind(terminal);
    default:
      return undefined;
  }
}
