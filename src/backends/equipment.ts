/** The tools, MCP servers and plugins of one agent in one session, opened and closed together. */
import { setTimeout as sleep } from "node:timers/promises";
import type { EnvironmentVariables } from "../stdx/index.ts";
import type {
  EventBody,
  LimitReached,
  McpServerSpec,
  McpSnapshot,
  PromptContribution,
  RemoteServerSpec,
  BetweenTurnsContext,
  SessionState,
  SessionTools,
  ToolResult,
  ToolSource,
  TurnContext,
  TurnOutcome,
  WaitOptions,
} from "../domain/index.ts";
import {
  OVERLAY_ARGUMENT,
  RookeryError,
  checkArgument,
  flagArgument,
  functionArgument,
  newId,
  objectArgument,
  optionalArgument,
  recordArgument,
  signalArgument,
  textArgument,
} from "../domain/index.ts";
import type { Authorizer, McpServers, ServersOptions } from "../mcp/index.ts";
import { deadline, DisposeStack } from "../stdx/index.ts";
import { createOfferedServer, runOfferedCall, type OfferedOptions } from "./offered-tools.ts";
import { AgentTools, CALL_TOOL, readResultSource, type Plugin, type ToolFilter } from "../tools/index.ts";

/** What the configuration and the embedding program provide for an agent. */
export interface AgentResources {
  readonly servers?: readonly McpServerSpec[] | undefined;
  readonly filter?: ToolFilter | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  /** Total length of tool definitions above which tools are found by search. */
  readonly deferOver?: number | undefined;
  readonly authorizer?: ((spec: RemoteServerSpec) => Authorizer) | undefined;
  /** Environment of every MCP server, in addition to its own. Default: that of a command. */
  readonly env?: EnvironmentVariables | undefined;
}

export interface EquipmentOptions extends AgentResources {
  readonly cwd: string;
  readonly marker: string;
  readonly env: EnvironmentVariables;
  /** Tools that are always in the model's context. */
  readonly base: readonly ToolSource[];
  /** Disabled tools, each with the message for a model that calls it anyway. */
  readonly switchedOff?: ReadonlyMap<string, string> | undefined;
  readonly servers: readonly McpServerSpec[];
  readonly sample?: ServersOptions["sample"];
  /** Returns the id under which the agent's program reported a call of the tool. */
  readonly reported?: ((tool: string) => string | undefined) | undefined;
  /** Tool choices and plugin states from the session's log. */
  readonly saved?: Pick<SessionState, "toolChoices" | "pluginStates"> | undefined;
}

export interface Equipment extends AsyncDisposable {
  readonly tools: AgentTools;
  /** The tools as clients of the session see them. */
  readonly sessionTools: SessionTools;
  attach(betweenTurns: BetweenTurnsContext): void;
  /** Restores the tool choices and plugin states that another agent of the session saved. */
  restore(saved: NonNullable<EquipmentOptions["saved"]>): Promise<void>;
  /** The running turn, if any. */
  readonly running: TurnContext | undefined;
  /**
   * Whether a call of the tool arrived in this turn before the program reported it. The program's report is then a
   * duplicate of a logged call. Each call is returned once.
   */
  arrivedEarly(tool: string): boolean;
  /** Calls a tool through the permission gate, and records the call. Rejects when the signal fires. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolResult>;
  /** Undefined until the session exists. */
  readonly betweenTurns: BetweenTurnsContext | undefined;
  /** Runs a turn between the plugins' hooks. The first turn waits for the MCP servers. */
  turn<End extends TurnOutcome | LimitReached>(turn: TurnContext, run: () => Promise<End>): Promise<End>;
}

/** Wait for MCP servers in the first turn: an agent that starts without its tools may never look for them again. */
const SERVERS_MS = 10_000;
/** Time that running calls have to stop on close; a tool that ignores the signal is abandoned. */
const STOP_MS = 5_000;
/** Events kept until the session exists; further ones are dropped. */
const MAX_PENDING_EVENTS = 100;
const NO_SERVERS: McpSnapshot = { servers: [] };

export async function openEquipment(options: EquipmentOptions): Promise<Equipment> {
  await using opening = new DisposeStack();
  const said = new PendingEvents();
  const servers = options.servers.length === 0 ? undefined : opening.use(await openMcpServers(options));
  const plugins = [...(servers === undefined ? [] : [createInstructionsPlugin(servers)]), ...(options.plugins ?? [])];
  const tools = opening.use(
    new AgentTools({
      filter: options.filter,
      plugins,
      deferOver: options.deferOver,
      switchedOff: options.switchedOff,
      choices: new Map(Object.entries(options.saved?.toolChoices ?? {})),
      onNotice: (notice) => said.record({ type: "notice", ...notice }),
    }),
  );
  for (const source of options.base) tools.add(source, { always: true });
  if (servers !== undefined) tools.add(readResultSource(), { always: true }); // only MCP servers produce oversized results
  for (const source of servers?.sources ?? []) tools.add(source);
  const states = options.saved?.pluginStates ?? {};
  await tools.restorePlugins(states);
  const kept = new Map(Object.entries(states).map(([plugin, saved]) => [plugin, JSON.stringify(saved)]));
  let first = true;
  let running: TurnContext | undefined;
  let between: BetweenTurnsContext | undefined;
  const early: string[] = [];
  const closing = new AbortController();
  const calling = new Set<Promise<unknown>>();
  const offered: OfferedOptions = {
    tools,
    servers,
    cwd: options.cwd,
    marker: options.marker,
    turn: () => running,
    betweenTurns: () => between,
    reported: (tool) => options.reported?.(tool),
    unreported: (tool) => void early.push(tool),
    closing: closing.signal,
    calling,
  };
  const offer = () => createOfferedServer(offered);
  const call = async (name: string, input: unknown, signal: AbortSignal): Promise<ToolResult> => {
    const prepared = await tools.snapshot().prepare({ toolId: newId("tool"), name, input }, { signal });
    const result = runOfferedCall(offered, prepared, { signal, progress: () => undefined });
    calling.add(result);
    return result.finally(() => calling.delete(result));
  };
  const owned = opening.move();
  return {
    tools,
    sessionTools: { ...toSessionTools(tools, servers), offer },
    call,
    get running() {
      return running;
    },
    arrivedEarly: (tool) => {
      const at = tool === CALL_TOOL ? 0 : early.indexOf(tool); // the program sees every such call as `call_tool`
      return at !== -1 && early.splice(at, 1).length > 0;
    },
    get betweenTurns() {
      return between;
    },
    attach: (betweenTurns) => {
      between = betweenTurns;
      said.attach(betweenTurns);
      servers?.attach(betweenTurns);
    },
    restore: async ({ toolChoices, pluginStates }) => {
      for (const [tool, enabled] of Object.entries(toolChoices)) tools.choose(tool, enabled);
      const others = Object.entries(pluginStates).filter(
        ([plugin, saved]) => kept.get(plugin) !== JSON.stringify(saved),
      );
      await tools.restorePlugins(Object.fromEntries(others));
      for (const [plugin, saved] of others) kept.set(plugin, JSON.stringify(saved));
    },
    turn: async (turn, run) => {
      if (first && servers !== undefined) await waitForServers(servers, turn);
      first &&= turn.signal.aborted; // the servers had no time to connect
      const { turnId, signal } = turn;
      await tools.turnStarted({ turnId, signal });
      running = turn;
      early.length = 0;
      let status: TurnOutcome["status"] | LimitReached["status"] = "failed"; // if it rejects; plugins see that end too
      const outcome = await run()
        .then((ended) => {
          status = ended.status;
          return ended;
        })
        .finally(() => {
          running = undefined;
          return tools.turnEnded({ turnId, outcome: status });
        });
      turn.log.record(...findChangedStates(await tools.pluginStates(), kept));
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new Error("the session was closed"));
      await Promise.race([Promise.allSettled(calling), sleep(STOP_MS, undefined, { ref: false })]);
      await owned[Symbol.asyncDispose]();
    },
  };
}

/** Imports the MCP client on demand, because the command starts faster without it. */
async function openMcpServers({
  servers,
  cwd,
  env,
  marker,
  authorizer,
  sample,
}: EquipmentOptions): Promise<McpServers> {
  const { openServers } = await import("../mcp/index.ts");
  return openServers({ servers, cwd, env, marker, authorizer, sample });
}

async function waitForServers(servers: McpServers, { signal, log }: TurnContext): Promise<void> {
  using enough = deadline(SERVERS_MS, signal);
  await servers.settled({ signal: enough.signal }).catch(() => undefined);
  if (signal.aborted) return;
  const late = servers.snapshot().servers.filter(({ status }) => status === "connecting");
  if (late.length === 0) return;
  const names = late.map(({ name }) => name).join(", ");
  const message = `still connecting to ${names}; the turn starts without their tools and gets them at the next step after they are connected`;
  log.record({ type: "notice", level: "info", code: "mcp_late", message });
}

/** Contributes the instructions of MCP servers to the prompt while the agent has one of their tools. */
function createInstructionsPlugin(servers: McpServers): Plugin {
  let revision = 0;
  let shown: readonly PromptContribution[] = [];
  let text = "";
  const look = (): void => {
    const next = servers.snapshot().servers.flatMap(({ name, instructions, tools }): PromptContribution[] => {
      if (instructions === undefined) return [];
      const names = tools.map((tool) => tool.name);
      return [{ slot: "tools", title: `MCP server ${name}`, content: instructions, tools: names }];
    });
    const said = JSON.stringify(next);
    if (said === text) return;
    [shown, text] = [next, said];
    revision += 1;
  };
  servers.onChange(look);
  return { id: "rookery.mcp", version: "1", revision: () => revision, contributions: () => shown };
}

function findChangedStates(
  states: Awaited<ReturnType<AgentTools["pluginStates"]>>,
  kept: Map<string, string>,
): EventBody[] {
  return Object.entries(states).flatMap(([plugin, { version, state }]): EventBody[] => {
    const text = JSON.stringify({ version, state });
    if (kept.get(plugin) === text) return [];
    kept.set(plugin, text);
    return [{ type: "plugin.saved", plugin, version, state }];
  });
}

const WAIT_OPTIONS = optionalArgument(objectArgument({ signal: optionalArgument(signalArgument) }));
const PROMPT_OPTIONS = optionalArgument(
  objectArgument({ args: optionalArgument(recordArgument(textArgument)), signal: optionalArgument(signalArgument) }),
);

function toSessionTools(tools: AgentTools, servers: McpServers | undefined): Omit<SessionTools, "offer"> {
  const some = (server: string, options?: WaitOptions): McpServers => {
    checkArgument(server, textArgument, "the server's name");
    checkArgument(options, WAIT_OPTIONS, "the options");
    if (servers !== undefined) return servers;
    throw new RookeryError("mcp_unknown", `this session has no MCP server ${server}; it has no MCP servers`);
  };
  return {
    list: () => [...tools.snapshot().catalog.values()],
    setOverlay: (overlay) => {
      checkArgument(overlay, OVERLAY_ARGUMENT, "the overlay");
      tools.setOverlay(overlay);
    },
    choose: (tool, enabled) => {
      checkArgument(tool, textArgument, "the tool's name");
      checkArgument(enabled, flagArgument, "the choice of a tool");
      tools.choose(tool, enabled);
    },
    servers: () => servers?.snapshot() ?? NO_SERVERS,
    onChange: (listener) => {
      checkArgument(listener, functionArgument, "the listener");
      const stops = [tools.onChange(listener), servers?.onChange(listener)];
      return () => stops.forEach((stop) => stop?.());
    },
    settled: async (options) => {
      checkArgument(options, WAIT_OPTIONS, "the options");
      await servers?.settled(options);
    },
    getPrompt: async (server, name, options) => {
      checkArgument(name, textArgument, "the prompt's name");
      checkArgument(options, PROMPT_OPTIONS, "the options");
      return some(server).getPrompt(server, name, options);
    },
    readResource: async (server, uri, options) => {
      checkArgument(uri, textArgument, "the resource");
      return some(server, options).readResource(server, uri, options);
    },
    login: async (server, options) => some(server, options).login(server, options),
    reconnect: (server) => some(server).reconnect(server),
  };
}

/** Buffers events until the session exists. */
class PendingEvents {
  #betweenTurns: BetweenTurnsContext | undefined;
  #waiting: EventBody[] = [];

  record(body: EventBody): void {
    if (this.#betweenTurns !== undefined) this.#betweenTurns.record(body);
    else if (this.#waiting.length < MAX_PENDING_EVENTS) this.#waiting.push(body);
  }

  attach(betweenTurns: BetweenTurnsContext): void {
    this.#betweenTurns = betweenTurns;
    betweenTurns.record(...this.#waiting);
    this.#waiting = [];
  }
}
