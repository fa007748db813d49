/** Makes every agent of Rookery available to an ACP client: its sessions are sessions of the log. */
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
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import type { McpDeclaration } from "../../acp/mcp/declaration.ts";
import { specOfDeclaration } from "../../acp/mcp/spec.ts";
import type { McpServerSpec } from "../../domain/mcp.ts";
import type { Rookery } from "../../rookery.ts";
import { isDriven } from "../../session/index.ts";
import { systemClock, type Clock } from "../../stdx/index.ts";
import { Conversation } from "./conversation.ts";
import { asPeerError } from "./failure.ts";
import { listSessions } from "./list.ts";
import { choiceOf, policyOf, type Choice } from "./options.ts";

export interface DoorOptions extends Pick<ConnectionOptions, "transport" | "trace"> {
  readonly rookery: Rookery;
  readonly env: EnvironmentVariables;
  readonly version: string;
  /** Where the client started it; sessions name their own folders. */
  readonly cwd: string;
  /** Of new sessions; the configured default if not said. */
  readonly agent?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Something failed that no answer tells of. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** `fork` is not in the stable schema yet. */
const SESSION_CAPABILITIES: acp.SessionCapabilities & { readonly fork: object } = {
  list: {},
  delete: {},
  resume: {},
  close: {},
  fork: {},
};

/** Serves one client until it goes away. The caller closes Rookery afterwards. */
export function openDoor(options: DoorOptions): AgentServer & { readonly ended: Promise<void> } {
  let door: Door | undefined;
  const server = serveAgent({
    transport: options.transport,
    trace: options.trace,
    peer: "the client",
    handlers: (client) => (door = new Door(options, client)).handlers(),
    onFailure: (error) => options.onFailure?.(error),
  });
  const ended = server.closed.then(() => door?.close());
  return Object.assign(server, { ended });
}

class Door {
  readonly #options: DoorOptions;
  readonly #client: ClientPeer;
  readonly #open = new Map<string, Conversation>();

  constructor(options: DoorOptions, client: ClientPeer) {
    this.#options = options;
    this.#client = client;
  }

  handlers(): AgentHandlers {
    const { store } = this.#options.rookery;
    return {
      initialize: () => this.#introduce(),
      authenticate: ({ methodId }) => {
        throw invalidParams(
          `there is no authentication method ${methodId}: agents take their keys from the environment`,
        );
      },
      newSession: told((params: acp.NewSessionRequest, context: AgentContext) => this.#create(params, context)),
      loadSession: told((params: acp.LoadSessionRequest, context: AgentContext) => this.#reopen(params, context, true)),
      resumeSession: told((params: acp.ResumeSessionRequest, context: AgentContext) =>
        this.#reopen(params, context, false),
      ),
      forkSession: told((params: acp.ForkSessionRequest, context: AgentContext) => this.#fork(params, context)),
      listSessions: told((params: acp.ListSessionsRequest) => listSessions(store, params)),
      deleteSession: told(({ sessionId }: acp.DeleteSessionRequest) => this.#delete(sessionId)),
      closeSession: told(({ sessionId }: acp.CloseSessionRequest) => this.#close(sessionId)),
      setMode: told(async ({ sessionId, modeId }: acp.SetSessionModeRequest) => {
        await this.#find(sessionId).choose({ permissions: policyOf(modeId) });
        return {};
      }),
      setModel: told(async ({ sessionId, modelId }: { sessionId: string; modelId: string }) => {
        await this.#choose(sessionId, (options) => choiceOf(options, "model", modelId));
        return {};
      }),
      setConfigOption: told(async ({ sessionId, configId, value }: acp.SetSessionConfigOptionRequest) => {
        const conversation = await this.#choose(sessionId, (options) => choiceOf(options, configId, value));
        return { configOptions: await conversation.configOptions() };
      }),
      prompt: told(({ sessionId, prompt }: acp.PromptRequest, { signal }: AgentContext) =>
        this.#find(sessionId).prompt(prompt, signal),
      ),
      cancel: ({ sessionId }) => this.#open.get(sessionId)?.cancel(),
    };
  }

  /** Lets go of every session. */
  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((conversation) => conversation[Symbol.asyncDispose]().catch(this.#failed)));
  }

  #introduce(): Omit<acp.InitializeResponse, "protocolVersion"> {
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
    const brought = specs(mcpServers);
    const opening = { cwd: folder, attended: true, mcpServers: brought, ...(agent !== undefined && { agent }) };
    const session = await rookery.openSession(opening);
    const conversation = new Conversation(this.#conversing(session.id, brought), session);
    this.#open.set(session.id, conversation);
    await conversation.read({ shown: false });
    const response = { sessionId: session.id, ...(await this.#offered(conversation)) };
    context.respond(response);
    await this.#begin(conversation, { driven: false });
    return response;
  }

  /** What another process drives can be watched from here; a prompt says then who has it. */
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
        `session ${sessionId} is busy with a prompt: wait for its answer, or cancel it`,
      );
    }
    this.#open.delete(sessionId);
    await before?.[Symbol.asyncDispose]();
    const conversation = await this.#stored(sessionId, { cwd: folder, shown, mcpServers });
    const response = await this.#offered(conversation);
    context.respond(response);
    await this.#begin(conversation, { driven: await isDriven(rookery.store, sessionId, clock) });
    return response;
  }

  /** The turns that have ended, in a session of its own. */
  async #fork(
    { sessionId, cwd, mcpServers }: acp.ForkSessionRequest,
    context: AgentContext,
  ): Promise<acp.ForkSessionResponse> {
    const folder = await realFolder(cwd);
    const forked = await this.#options.rookery.forkSession(sessionId, { cwd: folder });
    const conversation = await this.#stored(forked, { cwd: folder, shown: false, mcpServers });
    const response = { sessionId: forked, ...(await this.#offered(conversation)) };
    context.respond(response);
    await this.#begin(conversation, { driven: false });
    return response;
  }

  async #stored(
    sessionId: string,
    { cwd, shown, mcpServers }: { readonly cwd: string; readonly shown: boolean; readonly mcpServers: Brought },
  ): Promise<Conversation> {
    const conversation = new Conversation(this.#conversing(sessionId, specs(mcpServers), cwd));
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

  /** Open here or not. */
  async #delete(sessionId: string): Promise<acp.DeleteSessionResponse> {
    const conversation = this.#open.get(sessionId);
    this.#open.delete(sessionId);
    await conversation?.[Symbol.asyncDispose]();
    await this.#options.rookery.deleteSession(sessionId);
    return {};
  }

  async #choose(
    sessionId: string,
    choice: (options: readonly acp.SessionConfigOption[]) => Choice,
  ): Promise<Conversation> {
    const conversation = this.#find(sessionId);
    await conversation.choose(choice(await conversation.configOptions()));
    return conversation;
  }

  async #offered(conversation: Conversation) {
    return { modes: conversation.modes, configOptions: await conversation.configOptions() };
  }

  async #begin(conversation: Conversation, { driven }: { readonly driven: boolean }): Promise<void> {
    await conversation.tellCommands();
    conversation.follow({ driven });
  }

  #conversing(sessionId: string, mcpServers: readonly McpServerSpec[], cwd?: string) {
    const { rookery, env } = this.#options;
    return { rookery, env, client: this.#client, sessionId, cwd, mcpServers, onFailure: this.#failed };
  }

  #find(sessionId: string): Conversation {
    const conversation = this.#open.get(sessionId);
    if (conversation !== undefined) return conversation;
    throw notFound(`session ${sessionId} is not open here: load or resume it; it`);
  }

  readonly #failed = (error: unknown): void => this.#options.onFailure?.(error);
}

type Brought = readonly McpDeclaration[] | null | undefined;

function specs(mcpServers: Brought): readonly McpServerSpec[] {
  return (mcpServers ?? []).map(specOfDeclaration);
}

/** Answers in the protocol's own errors. */
function told<Params, Result>(handler: (params: Params, context: AgentContext) => Result | Promise<Result>) {
  return async (params: Params, context: AgentContext): Promise<Result> => {
    try {
      return await handler(params, context);
    } catch (error) {
      throw asPeerError(error);
    }
  };
}
