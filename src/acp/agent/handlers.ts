/** The methods that an agent serves. Each handler that is present serves one method. */
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";

export interface AgentContext {
  /** Fires when nobody needs the answer: the client cancelled the request or the turn, or it disconnected. */
  readonly signal: AbortSignal;
  /** Answers before the handler returns, so that everything the handler sends later follows the answer. */
  respond(result: unknown): void;
}

/**
 * The return value is the answer. A thrown `PeerError` is sent as it is, any other error as an internal error (-32603).
 */
export type AgentHandler<Params, Result> = (params: Params, context: AgentContext) => Result | Promise<Result>;

/** The agent's part of the `initialize` response. The server adds the negotiated protocol version. */
export type Introduction = Omit<acp.InitializeResponse, "protocolVersion">;

/** `session/set_model`, which agents used before the protocol had config options. */
export interface SetModelRequest {
  readonly sessionId: string;
  readonly modelId: string;
}

/**
 * A missing handler means that the method is refused with -32601. Params that lack a required field are refused with
 * -32602 before the handler is called. Unknown fields are kept.
 */
export interface AgentHandlers {
  readonly initialize: (params: acp.InitializeRequest, context: AgentContext) => Introduction | Promise<Introduction>;
  readonly authenticate?: AgentHandler<acp.AuthenticateRequest, acp.AuthenticateResponse> | undefined;
  readonly logout?: AgentHandler<acp.LogoutRequest, acp.LogoutResponse> | undefined;
  readonly newSession: AgentHandler<acp.NewSessionRequest, acp.NewSessionResponse>;
  readonly loadSession?: AgentHandler<acp.LoadSessionRequest, acp.LoadSessionResponse> | undefined;
  readonly resumeSession?: AgentHandler<acp.ResumeSessionRequest, acp.ResumeSessionResponse> | undefined;
  readonly forkSession?: AgentHandler<acp.ForkSessionRequest, acp.ForkSessionResponse> | undefined;
  readonly listSessions?: AgentHandler<acp.ListSessionsRequest, acp.ListSessionsResponse> | undefined;
  readonly deleteSession?: AgentHandler<acp.DeleteSessionRequest, acp.DeleteSessionResponse> | undefined;
  readonly closeSession?: AgentHandler<acp.CloseSessionRequest, acp.CloseSessionResponse> | undefined;
  readonly setMode?: AgentHandler<acp.SetSessionModeRequest, acp.SetSessionModeResponse> | undefined;
  readonly setConfigOption?:
    AgentHandler<acp.SetSessionConfigOptionRequest, acp.SetSessionConfigOptionResponse> | undefined;
  readonly setModel?: AgentHandler<SetModelRequest, object> | undefined;
  /**
   * One prompt at a time per session; a second one is refused. `session/cancel` and `$/cancel_request` fire the signal.
   * If the handler throws after that, the answer is `cancelled`, because clients treat an error as a failure.
   */
  readonly prompt: AgentHandler<acp.PromptRequest, acp.PromptResponse>;
  /** Called in addition to firing the signal of the running prompt, for a turn that this client did not start. */
  readonly cancel?: ((params: acp.CancelNotification) => void | Promise<void>) | undefined;
  /** Any other request, for example one of an extension. */
  readonly request?: ((request: IncomingRequest, context: AgentContext) => unknown) | undefined;
  /** Any other notification. */
  readonly notification?: ((notification: IncomingNotification) => void | Promise<void>) | undefined;
}

/** Maps each method to its handler. `initialize` and `session/prompt` are handled by `AgentServer` itself. */
const HANDLER_NAMES = {
  authenticate: "authenticate",
  logout: "logout",
  "session/new": "newSession",
  "session/load": "loadSession",
  "session/resume": "resumeSession",
  "session/fork": "forkSession",
  "session/list": "listSessions",
  "session/delete": "deleteSession",
  "session/close": "closeSession",
  "session/set_mode": "setMode",
  "session/set_config_option": "setConfigOption",
  "session/set_model": "setModel",
} as const satisfies Readonly<Record<string, keyof AgentHandlers>>;

/** Undefined if the agent has no handler for the method or the protocol has no such method. */
export function findAgentHandler(handlers: AgentHandlers, method: string): AgentHandler<unknown, unknown> | undefined {
  if (!Object.hasOwn(HANDLER_NAMES, method)) return undefined;
  const handler = handlers[HANDLER_NAMES[method as keyof typeof HANDLER_NAMES]];
  // The checked fields of the params have the right type; the rest is not validated.
  return handler?.bind(handlers) as AgentHandler<unknown, unknown> | undefined;
}
