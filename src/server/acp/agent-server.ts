/** Serves Rookery as an ACP agent. Every session of the client is a session in the log. */
import {
  serveAgent,
  type AgentContext,
  type AgentHandlers,
  type AgentServer,
  type ClientPeer,
} from "../../acp/agent/index.ts";
import { invalidParams, notFound, peerError, RPC } from "../../acp/errors.ts";
import type { ConnectionOptions } from "../../acp/connection/connection.ts";
import type * as acp from "../../acp/schema.ts";
import { realFolder } from "../../config/root.ts";
import type { McpDeclaration } from "../../acp/mcp/declaration.ts";
import { specOfDeclaration } from "../../acp/mcp/spec.ts";
import type { McpServerSpec } from "../../domain/mcp.ts";
import type { Rookery } from "../../rookery.ts";
import { isDriven } from "../../session/index.ts";
import { type EnvironmentVariables, systemClock, type Clock } from "../../stdx/index.ts";
import { ClientConversation } from "./client-conversation.ts";
import { toPeerError } from "./failure.ts";
import { listAcpSessions } from "./list.ts";
import { parseSettingsChange, parsePolicy, type SettingsChange } from "./editor-settings.ts";

export interface AcpServerOptions extends Pick<ConnectionOptions, "transport" | "trace"> {
  readonly rookery: Rookery;
  readonly env: EnvironmentVariables;
  readonly version: string;
  /** The working directory of the process. Sessions have their own. */
  readonly cwd: string;
  /** The agent of new sessions. Default: the configured default agent. */
  readonly agent?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Called for errors that no response reports. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** The stable schema does not have `fork` yet. */
const SESSION_CAPABILITIES: acp.SessionCapabilities & { readonly fork: object } = {
  list: {},
  delete: {},
  resume: {},
  close: {},
  fork: {},
};

/** Serves one client until it disconnects. `ended` resolves when all sessions are released; then close Rookery. */
export function serveAcpClient(options: AcpServerOptions): AgentServer & { readonly ended: Promise<void> } {
  let agentServer: AcpAgentServer | undefined;
  const server = serveAgent({
    transport: options.transport,
    trace: options.trace,
    peer: "the client",
    handlers: (client) => (agentServer = new AcpAgentServer(options, client)).handlers(),
    onFailure: (error) => options.onFailure?.(error),
  });
  const ended = server.closed.then(() => agentServer?.close());
  return Object.assign(server, { ended });
}

class AcpAgentServer {
  readonly #options: AcpServerOptions;
  readonly #client: ClientPeer;
  readonly #open = new Map<string, ClientConversation>();

  constructor(options: AcpServerOptions, client: ClientPeer) {
    this.#options = options;
    this.#client = client;
  }

  handlers(): AgentHandlers {
    const { store } = this.#options.rookery;
    return {
      initialize: () => this.#describeAgent(),
      authenticate: ({ methodId }) => {
        throw invalidParams(
          `unknown authentication method ${methodId}: set API keys in the environment of the agents instead`,
        );
      },
      newSession: withPeerErrors((params: acp.NewSessionRequest, context: AgentContext) =>
        this.#create(params, context),
      ),
      loadSession: withPeerErrors((params: acp.LoadSessionRequest, context: AgentContext) =>
        this.#reopen(params, context, true),
      ),
      resumeSession: withPeerErrors((params: acp.ResumeSessionRequest, context: AgentContext) =>
        this.#reopen(params, context, false),
      ),
      forkSession: withPeerErrors((params: acp.ForkSessionRequest, context: AgentContext) =>
        this.#fork(params, context),
      ),
      listSessions: withPeerErrors((params: acp.ListSessionsRequest) => listAcpSessions(store, params)),
      deleteSession: withPeerErrors(({ sessionId }: acp.DeleteSessionRequest) => this.#delete(sessionId)),
      closeSession: withPeerErrors(({ sessionId }: acp.CloseSessionRequest) => this.#close(sessionId)),
      setMode: withPeerErrors(async ({ sessionId, modeId }: acp.SetSessionModeRequest) => {
        await this.#find(sessionId).change({ permissions: parsePolicy(modeId) });
        return {};
      }),
      setModel: withPeerErrors(async ({ sessionId, modelId }: { sessionId: string; modelId: string }) => {
        await this.#changeSettings(sessionId, (options) => parseSettingsChange(options, "model", modelId));
        return {};
      }),
      setConfigOption: withPeerErrors(async ({ sessionId, configId, value }: acp.SetSessionConfigOptionRequest) => {
        const conversation = await this.#changeSettings(sessionId, (options) =>
          parseSettingsChange(options, configId, value),
        );
        return { configOptions: await conversation.configOptions() };
      }),
      prompt: withPeerErrors(({ sessionId, prompt }: acp.PromptRequest, { signal }: AgentContext) =>
        this.#find(sessionId).prompt(prompt, signal),
      ),
      cancel: ({ sessionId }) => this.#open.get(sessionId)?.cancel(),
    };
  }

  /** Releases every session. */
  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((conversation) => conversation[Symbol.asyncDispose]().catch(this.#reportFailure)));
  }

  #describeAgent(): Omit<acp.InitializeResponse, "protocolVersion"> {
    return {
      agentInfo: { name: "rookery", title: "Rookery", version: this.#options.version },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true, sse: true },
        promptCapabilities: { image: true, embeddedContext: true, audio: false },
        sessionCapabilities: SESSION_CAPABILITIES,
      },
      authMethods: [],
    };
  }

  async #create({ cwd, mcpServers }: acp.NewSessionRequest, context: AgentContext): Promise<acp.NewSessionResponse> {
    const { rookery, agent } = this.#options;
    const folder = await realFolder(cwd);
    const serverSpecs = toServerSpecs(mcpServers);
    const opening = { cwd: folder, attended: true, mcpServers: serverSpecs, ...(agent !== undefined && { agent }) };
    const session = await rookery.openSession(opening);
    const conversation = new ClientConversation(this.#conversationOptions(session.id, serverSpecs), session);
    this.#open.set(session.id, conversation);
    await conversation.read({ shown: false });
    const response = { sessionId: session.id, ...(await this.#listSettings(conversation)) };
    context.respond(response);
    await this.#startFollowing(conversation, { driven: false });
    return response;
  }

  /** Also opens sessions that another process drives. Their prompts are rejected with `session_in_use`. */
  async #reopen(
    { sessionId, cwd, mcpServers }: acp.LoadSessionRequest | acp.ResumeSessionRequest,
    context: AgentContext,
    shown: boolean,
  ): Promise<acp.LoadSessionResponse> {
    const { rookery, clock = systemClock } = this.#options;
    const folder = await realFolder(cwd);
    const before = this.#open.get(sessionId);
    if (before?.busy === true) {
      throw peerError(
        RPC.invalidRequest,
        `session ${sessionId} has a running prompt: wait for its response, or cancel it`,
      );
    }
    this.#open.delete(sessionId);
    await before?.[Symbol.asyncDispose]();
    const conversation = await this.#openStored(sessionId, { cwd: folder, shown, mcpServers });
    const response = await this.#listSettings(conversation);
    context.respond(response);
    await this.#startFollowing(conversation, { driven: await isDriven(rookery.store, sessionId, clock) });
    return response;
  }

  /** Copies all completed turns into a new session. */
  async #fork(
    { sessionId, cwd, mcpServers }: acp.ForkSessionRequest,
    context: AgentContext,
  ): Promise<acp.ForkSessionResponse> {
    const folder = await realFolder(cwd);
    const forked = await this.#options.rookery.forkSession(sessionId, { cwd: folder });
    const conversation = await this.#openStored(forked, { cwd: folder, shown: false, mcpServers });
    const response = { sessionId: forked, ...(await this.#listSettings(conversation)) };
    context.respond(response);
    await this.#startFollowing(conversation, { driven: false });
    return response;
  }

  async #openStored(
    sessionId: string,
    { cwd, shown, mcpServers }: { readonly cwd: string; readonly shown: boolean; readonly mcpServers: McpDeclarations },
  ): Promise<ClientConversation> {
    const conversation = new ClientConversation(this.#conversationOptions(sessionId, toServerSpecs(mcpServers), cwd));
    await conversation.read({ shown });
    this.#open.set(sessionId, conversation);
    return conversation;
  }

  async #close(sessionId: string): Promise<acp.CloseSessionResponse> {
    const conversation = this.#find(sessionId);
    this.#open.delete(sessionId);
    await conversation[Symbol.asyncDispose]();
    return {};
  }

  /** Works for sessions that are not open, too. */
  async #delete(sessionId: string): Promise<acp.DeleteSessionResponse> {
    const conversation = this.#open.get(sessionId);
    this.#open.delete(sessionId);
    await conversation?.[Symbol.asyncDispose]();
    await this.#options.rookery.deleteSession(sessionId);
    return {};
  }

  async #changeSettings(
    sessionId: string,
    choice: (options: readonly acp.SessionConfigOption[]) => SettingsChange,
  ): Promise<ClientConversation> {
    const conversation = this.#find(sessionId);
    await conversation.change(choice(await conversation.configOptions()));
    return conversation;
  }

  async #listSettings(conversation: ClientConversation) {
    return { modes: conversation.modes, configOptions: await conversation.configOptions() };
  }

  async #startFollowing(conversation: ClientConversation, { driven }: { readonly driven: boolean }): Promise<void> {
    await conversation.sendCommands();
    conversation.follow({ driven });
  }

  #conversationOptions(sessionId: string, mcpServers: readonly McpServerSpec[], cwd?: string) {
    const { rookery, env } = this.#options;
    return { rookery, env, client: this.#client, sessionId, cwd, mcpServers, onFailure: this.#reportFailure };
  }

  #find(sessionId: string): ClientConversation {
    const conversation = this.#open.get(sessionId);
    if (conversation !== undefined) return conversation;
    throw notFound(`session ${sessionId} is not open on this connection: load or resume it; it`);
  }

  readonly #reportFailure = (error: unknown): void => this.#options.onFailure?.(error);
}

type McpDeclarations = readonly McpDeclaration[] | null | undefined;

function toServerSpecs(mcpServers: McpDeclarations): readonly McpServerSpec[] {
  return (mcpServers ?? []).map(specOfDeclaration);
}

/** Wraps a handler so that its errors become protocol errors. */
function withPeerErrors<Params, Result>(handler: (params: Params, context: AgentContext) => Result | Promise<Result>) {
  return async (params: Params, context: AgentContext): Promise<Result> => {
    try {
      return await handler(params, context);
    } catch (error) {
      throw toPeerError(error);
    }
  };
}
