/** The `acp` backend: any agent that speaks the Agent Client Protocol on its stdio. */
import { childEnvironment } from "../../domain/child-environment.ts";
import {
  RookeryError,
  type AgentConnection,
  type Backend,
  type BackendContext,
  type BackendKind,
  type Capabilities,
  type EventBody,
  type LimitReached,
  type McpServerSpec,
  type PermissionPolicy,
  type BetweenTurnsContext,
  type SessionTools,
  type TurnContext,
  type TurnOutcome,
} from "../../domain/index.ts";
import {
  builtinRegistry,
  resolveLaunch,
  type GateRequest,
  type Noise,
  type schema,
  type SessionOptions,
} from "../../acp/index.ts";
import { formatShellCommand } from "../../programs/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openEquipment, type Equipment, type AgentResources } from "../equipment.ts";
import { reserveServerName, findOfferedTool } from "../offered-tools.ts";
import { toPromptBlocks } from "./blocks.ts";
import { ConversationMemory } from "../memory.ts";
import {
  findForkMethod,
  hasModes,
  startLiveAcpAgent,
  type ConversationOrigin,
  type LiveAcpAgent,
} from "./live-agent.ts";
import { toNoiseEvents } from "./noise.ts";
import { toFailureOutcome } from "./outcome.ts";
import { AcpTurnDriver } from "./turn.ts";

export interface AcpBackendOptions {
  /** The complete environment of the agent's process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly auth?: string | undefined;
  readonly serve?: readonly ("files" | "terminals")[] | undefined;
  /** The backend kind to report, for a program with a backend of that name. Default: `acp`. */
  readonly kind?: BackendKind | undefined;
  /** Overrides of the capabilities that the agent announces. */
  readonly capabilities?: Partial<Capabilities> | undefined;
  /** Builds the command line for a permission policy. Default: the configured command, or the registry's. */
  readonly launch?: ((context: BackendContext, permissions: PermissionPolicy) => AcpLaunch) | undefined;
  /** The agent's name in the registry. Used if the configuration has no command. */
  readonly registry?: string | undefined;
  readonly resources?: AgentResources | undefined;
  /** The environment of commands in the agent's terminals. Default: `env` without credentials. */
  readonly commandEnv?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface AcpLaunch {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export function acpBackend(options: AcpBackendOptions): Backend {
  return {
    kind: options.kind ?? "acp",
    async open(context) {
      await using opening = new DisposeStack();
      const reported = (tool: string) => connection.reported(tool);
      const equipment = opening.use(await openAcpEquipment(context, options, reported));
      const connection: AcpConnection = new AcpConnection(context, options, equipment);
      await connection.start();
      opening.move(); // the connection owns the equipment from here on
      return connection;
    },
  };
}

/** Whether a tool filter applies. Without one, the client's MCP servers go to the agent unchanged. */
function isFiltered({ resources }: AcpBackendOptions): boolean {
  const { allow = [], deny = [] } = resources?.filter ?? {};
  return allow.length + deny.length > 0;
}

function openAcpEquipment(
  context: BackendContext,
  options: AcpBackendOptions,
  reported: (tool: string) => string | undefined,
): Promise<Equipment> {
  const { cwd, marker, saved, mcpServers = [] } = context;
  const { servers = [], ...wanted } = options.resources ?? {};
  const ours = isFiltered(options) ? [...servers, ...mcpServers] : servers;
  const env = wanted.env ?? childEnvironment(options.env);
  return openEquipment({ ...wanted, servers: ours, cwd, marker, saved, env, reported, base: [] });
}

/** Capabilities of the protocol. A given agent may have fewer. */
const CAPABILITIES: Capabilities = {
  resume: true,
  fork: true,
  permissions: true,
  questions: true,
  mcp: true,
  models: true,
  modes: false,
  interrupt: true,
  usage: true,
  cost: true,
};

class AcpConnection implements AgentConnection {
  /** False: the turn runs inside the agent's process and dies with it. */
  readonly resumesTurns = false;
  #context: BackendContext;
  readonly #options: AcpBackendOptions;
  readonly #equipment: Equipment;
  /** Whether the running agent was given our tools. */
  #hasOurTools = false;
  #live: LiveAcpAgent | undefined;
  /** The command line of the running agent. */
  #launched: AcpLaunch | undefined;
  readonly #closing = new AbortController();
  /** Whether the log has `process.started` for the running agent. */
  #startRecorded = false;
  readonly #memory: ConversationMemory;
  #nativeId: string | undefined;
  #turn: AcpTurnDriver | undefined;
  #pendingEvents: EventBody[] = [];
  #cost = 0;

  constructor(context: BackendContext, options: AcpBackendOptions, equipment: Equipment) {
    this.#equipment = equipment;
    this.#context = context;
    this.#options = options;
    this.#nativeId = context.nativeId;
    this.#memory = new ConversationMemory(context.agent.name);
  }

  async start(launch = this.#launch(), given?: AbortSignal): Promise<LiveAcpAgent> {
    const closing = this.#closing.signal;
    const signal = given === undefined ? closing : AbortSignal.any([closing, given]);
    const live = await startLiveAcpAgent({
      context: this.#context,
      servers: await this.#servers(),
      command: launch.command,
      env: { ...this.#options.env, ...launch.env },
      auth: this.#options.auth,
      serve: this.#options.serve ?? [],
      commandEnv: this.#options.commandEnv,
      nativeId: this.#nativeId,
      handlers: this.#handlers(),
      gate: async (request: GateRequest) =>
        this.#turn?.gate(request) ?? { allowed: false, message: "no turn is running" },
      noise: (noise) => this.#onNoise(noise),
      signal,
    });
    this.#live = live;
    this.#launched = launch;
    this.#startRecorded = false;
    this.#memory.restart();
    return live;
  }

  get capabilities(): Capabilities {
    const { loadSession, sessionCapabilities } = this.#live?.client.capabilities ?? {};
    const resume = sessionCapabilities?.resume != null || loadSession === true;
    return {
      ...CAPABILITIES,
      resume,
      modes: this.#live !== undefined && hasModes(this.#live.session),
      fork: this.#live !== undefined && findForkMethod(this.#live.client) !== undefined,
      ...this.#options.capabilities,
    };
  }

  get childMarker(): string | undefined {
    return this.#live?.process.marker;
  }

  get heard(): number | undefined {
    return this.#live?.process.transport.received?.();
  }

  get tools(): SessionTools {
    return this.#equipment.sessionTools;
  }

  attach(desk: BetweenTurnsContext): void {
    this.#equipment.attach(desk);
  }

  /** The agent missed the turns in between; the next prompt includes them once. */
  async returned(saved: Parameters<Equipment["restore"]>[0]): Promise<void> {
    await this.#equipment.restore(saved);
    this.#memory.markMissed();
  }

  /** Replaces the agent's own session, which may remember the old one, and hands the remaining conversation over. */
  async forget(): Promise<void> {
    this.#context = { ...this.#context, nativeId: undefined, forkOf: undefined };
    this.#nativeId = undefined;
    const hadSome = this.#memory.forget() || this.#live?.how !== "new";
    if (hadSome) await this.#drop(this.#live);
  }

  reported(tool: string): string | undefined {
    return this.#turn?.findReportedCall(tool);
  }

  /** Without tools, no server is offered: an agent presents every server to its model. */
  get #hasTools(): boolean {
    const { tools, sessionTools } = this.#equipment;
    return sessionTools.servers().servers.length > 0 || tools.artifact().catalog.size > 0;
  }

  async #servers(): Promise<McpServerSpec[]> {
    const { mcpServers = [] } = this.#context;
    const wanted = isFiltered(this.#options) ? mcpServers.filter(({ type }) => type === "foreign") : mcpServers;
    const brought = wanted.map((spec) => (spec.type === "foreign" ? spec : reserveServerName(spec)));
    this.#hasOurTools = this.#hasTools;
    if (!this.#hasOurTools) return [...brought];
    const offered = await this.#equipment.sessionTools.offer();
    return [...brought.filter(({ name }) => name !== offered.name), offered];
  }

  #launch(permissions = this.#context.permissions ?? "ask"): AcpLaunch {
    const { command, name } = this.#context.agent;
    if (this.#options.launch !== undefined) return this.#options.launch(this.#context, permissions);
    if (command !== undefined) return { command };
    const { registry } = this.#options;
    if (registry !== undefined) return resolveLaunch(builtinRegistry(), registry);
    const fix = `add command = ["…"] or registry = "…" under [agents.${name}]`;
    throw new RookeryError("config_invalid", `agent ${name} has no command to start; ${fix}`);
  }

  runTurn(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    return this.#equipment.turn(turn, () => this.#run(turn));
  }

  async #run(turn: TurnContext): Promise<TurnOutcome | LimitReached> {
    let live: LiveAcpAgent;
    try {
      live = await this.#ensureRunning(turn);
    } catch (error) {
      return turn.signal.aborted ? { status: "cancelled" } : toFailureOutcome(error, this.#context.agent.name);
    }
    const isNew = !this.#startRecorded;
    const prompt = await this.#prompt(turn, live);
    if (isNew) await turn.log.commit(); // a program is recorded before it is used
    if (turn.signal.aborted) return { status: "cancelled" }; // the prompt was not sent
    this.#memory.markDelivered(turn);
    const running = new AcpTurnDriver({
      turn,
      session: live.session,
      agent: this.#context.agent.name,
      costBefore: this.#cost,
      cameEarly: (tool) => this.#equipment.arrivedEarly(tool),
      findOfferedTool: (call) =>
        this.#hasOurTools ? findOfferedTool(call, this.#equipment.tools.artifact().catalog) : undefined,
    });
    this.#turn = running;
    running.record(...this.#pendingEvents.splice(0));
    try {
      const outcome = await running.run(prompt, () => void this.#drop(live));
      const over = live.client.connection.over?.exit;
      if (over !== undefined)
        turn.log.record({
          type: "process.exited",
          pid: live.process.identity.pid,
          exitCode: over.exitCode,
          signal: over.signal,
        });
      return outcome;
    } finally {
      this.#turn = undefined;
      this.#cost = running.cost;
      if (live.session.isBroken) await this.#drop(live); // the next turn starts another agent
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    this.#closing.abort(new RookeryError("interrupted", "the session was closed while its agent was starting"));
    try {
      await live?.[Symbol.asyncDispose]();
    } finally {
      await this.#equipment[Symbol.asyncDispose]();
    }
  }

  /** Returns the running agent, or starts another one if it has exited or no longer fits the turn. */
  async #ensureRunning({ permissions, signal }: TurnContext): Promise<LiveAcpAgent> {
    const live = this.#live;
    const launch = this.#launch(permissions);
    const lacksTools = !this.#hasOurTools && this.#hasTools; // an overlay was added after the start
    const suits = JSON.stringify(launch) === JSON.stringify(this.#launched); // another policy may need another command line
    if (live !== undefined && live.client.connection.over === undefined && !lacksTools && suits) return live;
    await this.#drop(live);
    return this.start(launch, signal);
  }

  async #drop(live: LiveAcpAgent | undefined): Promise<void> {
    if (this.#live === live) this.#live = undefined;
    if (live === undefined) return;
    await Promise.allSettled([live[Symbol.asyncDispose]()]); // a process that survives is found later by its marker
  }

  /** Builds the prompt. Includes the earlier conversation if the agent lacks it, and the instructions once. */
  async #prompt(turn: TurnContext, live: LiveAcpAgent): Promise<schema.ContentBlock[]> {
    const blocks = await toPromptBlocks(turn, live.client.capabilities.promptCapabilities ?? {});
    if (this.#memory.isComplete) return blocks;
    const { how, before, knows } = await this.#memory.recall(turn, live.how);
    if (!this.#memory.hasReceived) {
      if (live.lost !== undefined) this.#recordLoss(turn, live.lost);
      this.#cost = knows ? await readEarlierCost(turn, this.#context.agent.name) : 0;
    }
    const preamble = [...(knows ? [] : this.#context.agent.prompts), ...(before === undefined ? [] : [before])];
    this.#recordConnection(turn, live, how);
    return [...preamble.map((text): schema.ContentBlock => ({ type: "text", text })), ...blocks];
  }

  #recordLoss({ log }: TurnContext, why: string): void {
    const message = `${this.#context.agent.name} could not resume its session (${why}); a new session was started with the conversation so far`;
    log.record({ type: "notice", level: "warning", code: "native_session_lost", message });
  }

  #recordConnection({ log }: TurnContext, { process, session }: LiveAcpAgent, how: ConversationOrigin): void {
    this.#nativeId = session.id;
    const { pid, startTime } = process.identity;
    const command = formatShellCommand(this.#launched?.command ?? []).slice(0, MAX_COMMAND_LENGTH);
    const started: EventBody = { type: "process.started", pid, startTime, marker: this.#context.marker, command };
    log.record(...(this.#startRecorded ? [] : [started]), { type: "agent.connected", nativeId: session.id, how });
    this.#startRecorded = true;
  }

  #handlers(): SessionOptions {
    return {
      update: (item) => (item.when === "turn" ? this.#turn?.update(item) : undefined),
      permission: async (request) => this.#turn?.permission(request) ?? { outcome: { outcome: "cancelled" } },
      elicitation: async (request) => this.#turn?.elicitation(request) ?? { action: "cancel" },
    };
  }

  /** Records output of the agent. Output between turns is kept for the next turn. */
  #onNoise(noise: Noise): void {
    const events = toNoiseEvents(noise, this.#context.agent.name);
    if (this.#turn !== undefined) this.#turn.record(...events);
    else if (this.#pendingEvents.length < MAX_PENDING_EVENTS) this.#pendingEvents.push(...events);
  }
}

const MAX_COMMAND_LENGTH = 2_000;
/** Output events kept between turns; further ones are dropped. */
const MAX_PENDING_EVENTS = 100;

/** Returns the cost in USD that the log has for the agent's current session. */
async function readEarlierCost(turn: TurnContext, agent: string): Promise<number> {
  let cost = 0;
  for await (const event of turn.history()) {
    if (event.agent !== agent) continue; // another agent of this session
    if (event.type === "agent.connected" && (event.how === "new" || event.how === "handed_over")) cost = 0;
    if (event.type === "usage.reported") cost += event.costUsd ?? 0;
  }
  return cost;
}
