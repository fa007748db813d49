/** The requests that a client serves for a session. Each handler that is present serves one kind of request. */
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";
import type { UpdateHandler } from "./buffer/ordered-delivery.ts";
import { validateClientParams } from "./routing/request-params.ts";

export interface RequestContext {
  /** Undefined if the request belongs to no session. */
  readonly sessionId: string | undefined;
  /**
   * Fires when nobody needs the answer: the agent cancelled its request, the turn was cancelled, or the agent exited.
   */
  readonly signal: AbortSignal;
}

/**
 * The return value is the answer. A thrown `PeerError` is sent as it is, any other error as an internal error (-32603).
 */
type Handler<Params, Result> = (params: Params, context: RequestContext) => Result | Promise<Result>;

export interface TerminalHandlers {
  readonly create: Handler<acp.CreateTerminalRequest, acp.CreateTerminalResponse>;
  readonly output: Handler<acp.TerminalOutputRequest, acp.TerminalOutputResponse>;
  readonly waitForExit: Handler<acp.WaitForTerminalExitRequest, acp.WaitForTerminalExitResponse>;
  readonly kill: Handler<acp.KillTerminalRequest, acp.KillTerminalResponse>;
  readonly release: Handler<acp.ReleaseTerminalRequest, acp.ReleaseTerminalResponse>;
}

/**
 * A missing handler means that the request is refused with -32601. Params that lack a required field are refused with
 * -32602 before the handler is called. Unknown fields are kept.
 */
export interface SessionHandlers {
  /** When the turn is cancelled, the agent gets its answer immediately; the handler's result is ignored. */
  readonly permission?: Handler<acp.RequestPermissionRequest, acp.RequestPermissionResponse> | undefined;
  readonly readTextFile?: Handler<acp.ReadTextFileRequest, acp.ReadTextFileResponse> | undefined;
  readonly writeTextFile?: Handler<acp.WriteTextFileRequest, acp.WriteTextFileResponse> | undefined;
  readonly terminal?: TerminalHandlers | undefined;
  /** When the turn is cancelled, the agent gets its answer immediately; the handler's result is ignored. */
  readonly elicitation?: Handler<acp.CreateElicitationRequest, acp.CreateElicitationResponse> | undefined;
  /** Any other request, for example one of an extension. */
  readonly request?: ((request: IncomingRequest, context: RequestContext) => unknown) | undefined;
  /** Any notification except `session/update`. */
  readonly notification?: ((notification: IncomingNotification) => void | Promise<void>) | undefined;
}

export interface SessionOptions extends SessionHandlers {
  /**
   * Receives each update instead of a reader; iterating over a turn then yields none. The next update, requests of the
   * session and the turn's response wait until the handler is done. If it throws, the session breaks: the running turn
   * and every later prompt reject with that error.
   */
  readonly update?: UpdateHandler | undefined;
  /**
   * What happens to a request without a handler: refuse it, or give it to the reader as an item. A request that arrives
   * during session setup is always refused, because nobody can read it yet. Default: `refuse`.
   */
  readonly unhandled?: "refuse" | "read" | undefined;
}

/** The capabilities of a client with these handlers. */
export function capabilitiesOf(handlers: SessionHandlers): acp.ClientCapabilities {
  return {
    fs: { readTextFile: handlers.readTextFile !== undefined, writeTextFile: handlers.writeTextFile !== undefined },
    terminal: handlers.terminal !== undefined,
    ...(handlers.elicitation !== undefined && { elicitation: { form: {}, url: {} } }),
    session: { configOptions: { boolean: {} } },
  };
}

/** Bound methods, so that merging the same options twice gives the same functions. */
const BOUND_METHODS = new WeakMap<object, Map<string, { readonly method: unknown; readonly bound: unknown }>>();

/** Fields of `over` take precedence; it may be a class instance, so its methods are bound. `under` was merged before. */
export function mergeSessionOptions(under: SessionOptions, over: SessionOptions): SessionOptions {
  const chosen = <Key extends keyof SessionOptions>(key: Key): SessionOptions[Key] =>
    over[key] === undefined ? under[key] : bindMethod(over, key);
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

function bindMethod<Key extends keyof SessionOptions>(options: SessionOptions, key: Key): SessionOptions[Key] {
  const method: unknown = options[key];
  if (typeof method !== "function") return options[key];
  const known = BOUND_METHODS.get(options) ?? new Map<string, { readonly method: unknown; readonly bound: unknown }>();
  BOUND_METHODS.set(options, known);
  const found = known.get(key);
  if (found?.method === method) return found.bound as SessionOptions[Key];
  const bound: unknown = method.bind(options);
  known.set(key, { method, bound });
  return bound as SessionOptions[Key];
}

/** Undefined if there is no handler for the request. Throws -32602 for invalid params. */
export function findSessionHandler(
  handlers: SessionHandlers,
  request: IncomingRequest,
): ((context: RequestContext) => unknown) | undefined {
  const { method, params } = request;
  const typed = findTypedHandler(handlers, method);
  if (typed !== undefined) {
    validateClientParams(method, params); // only required fields are validated
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
