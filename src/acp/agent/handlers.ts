/** What an agent does for a client: each handler it has is a method that it serves. */
import type { IncomingNotification, IncomingRequest } from "../connection/incoming.ts";
import type * as acp from "../schema.ts";

export interface AgentContext {
  /** Fires when the answer is of no use any more: the client took its request back, its turn was cancelled, or it is gone. */
  readonly signal: AbortSignal;
  /** Answers now, before the handler is done, so that what it sends then comes behind the answer. */
  respond(result: unknown): void;
}

/** Answers with what it returns. A `PeerError` that it throws is answered as it is, anything else as an internal error. */
export type AgentHandler<Params, Result> = (params: Params, context: AgentContext) => Result | Promise<Result>;

/** What an agent says of itself; the version of the protocol is negotiated for it. */
export type Introduction = Omit<acp.InitializeResponse, "protocolVersion">;

/** Of agents before the protocol had config options. */
export interface SetModelRequest {
  readonly sessionId: string;
  readonly modelId: string;
}

/**
 * What is left out is refused with -32601. Params that lack what the protocol wants are refused with -32602 before a
 * handler sees them; whatever else they carry is there.
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
   * One at a time in each session: a second one is refused. `session/cancel` and `$/cancel_request` fire the signal;
   * what is thrown then is answered as `cancelled`, since a client takes an error for a failure.
   */
  readonly prompt: AgentHandler<acp.PromptRequest, acp.PromptResponse>;
  /** Beside the signal of the prompt that runs: for a turn that no prompt of this client began. */
  readonly cancel?: ((params: acp.CancelNotification) => void | Promise<void>) | undefined;
  /** Any other request, such as one of an extension. */
  readonly request?: ((request: IncomingRequest, context: AgentContext) => unknown) | undefined;
  /** Any other notification. */
  readonly notification?: ((notification: IncomingNotification) => void | Promise<void>) | undefined;
}

/** The handler of each method that sets nothing of the connection itself. */
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

/** Undefined where the agent does not serve it, or the protocol has no such method. */
export function findAgentHandler(handlers: AgentHandlers, method: string): AgentHandler<unknown, unknown> | undefined {
  if (!Object.hasOwn(HANDLER_NAMES, method)) return undefined;
  const handler = handlers[HANDLER_NAMES[method as keyof typeof HANDLER_NAMES]];
  // The params are what the protocol has for the method as far as they were checked; the rest is the client's word.
  return handler?.bind(handlers) as AgentHandler<unknown, unknown> | undefined;
}
