/** What one agent of one session has to work with: its tools, its MCP servers and its plugins, opened and closed together. */
import { setTimeout as sleep } from "node:timers/promises";
import type { EnvironmentVariables } from "../stdx/index.ts";
import type {
  EventBody,
  LimitReached,
  McpServerSpec,
  McpSnapshot,
  PromptContribution,
  RemoteServerSpec,
  SessionDesk,
  SessionState,
  SessionTools,
  ToolSource,
  TurnContext,
  TurnOutcome,
} from "../domain/index.ts";
import {
  OVERLAY_ARGUMENT,
  RookeryError,
  checkArgument,
  flagArgument,
  functionArgument,
  listArgument,
  objectArgument,
  optionalArgument,
  signalArgument,
  textArgument,
  type ArgumentCheck,
} from "../domain/index.ts";
import type { Authorizer, McpServers, ServersOptions } from "../mcp/index.ts";
import { deadline, DisposeStack } from "../stdx/index.ts";
import { offeredTools } from "./offered.ts";
import { AgentTools, CALL, resultsSource, type Plugin, type ToolFilter } from "../tools/index.ts";

/** What the configuration and whoever opened Rookery want for an agent. */
export interface Wanted {
  readonly servers?: readonly McpServerSpec[] | undefined;
  readonly filter?: ToolFilter | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  /** Characters of definitions past which tools are found by searching. */
  readonly deferOver?: number | undefined;
  readonly authorizer?: ((spec: RemoteServerSpec) => Authorizer) | undefined;
  /** What every MCP server gets of the environment, beside its own. Default: what a command gets. */
  readonly env?: EnvironmentVariables | undefined;
}

export interface EquipmentOptions extends Wanted {
  readonly cwd: string;
  readonly marker: string;
  readonly env: EnvironmentVariables;
  /** Told to the model however many others there are. */
  readonly base: readonly ToolSource[];
  /** Tools that it could have, with what is said to a model that calls one all the same. */
  readonly switchedOff?: ReadonlyMap<string, string> | undefined;
  readonly servers: readonly McpServerSpec[];
  readonly sample?: ServersOptions["sample"];
  /** The id under which the agent's program itself reports a call of one of these tools. */
  readonly reported?: ((tool: string) => string | undefined) | undefined;
  /** What the session's log says of its tools and plugins. */
  readonly saved?: Pick<SessionState, "toolChoices" | "pluginStates"> | undefined;
}

export interface Equipment extends AsyncDisposable {
  readonly tools: AgentTools;
  /** For whoever holds the session. */
  readonly held: SessionTools;
  attach(desk: SessionDesk): void;
  /** Takes over what another agent of the session has chosen and kept meanwhile. */
  restore(saved: NonNullable<EquipmentOptions["saved"]>): Promise<void>;
  /** The turn that runs, if one does. */
  readonly running: TurnContext | undefined;
  /**
   * Has a call of this tool come in this turn that the program had not reported yet? Then what it reports of it now is
   * in the log already. Each is found once.
   */
  cameEarly(tool: string): boolean;
  /** Undefined until the session is there. */
  readonly desk: SessionDesk | undefined;
  /** Runs a turn between the hooks of the plugins, once the servers had their time to come up. */
  turn<End extends TurnOutcome | LimitReached>(turn: TurnContext, run: () => Promise<End>): Promise<End>;
}

/** In the first turn only: an agent that begins without its tools may never look for them again. */
const SERVERS_MS = 10_000;
/** How long calls of a program may take to stop; a tool that does not listen is left to itself. */
const STOP_MS = 5_000;
/** What is said before the session is there waits; more than this was never worth reading. */
const MOST_WAITING = 100;
const NO_SERVERS: McpSnapshot = { servers: [] };

export async function openEquipment(options: EquipmentOptions): Promise<Equipment> {
  await using opening = new DisposeStack();
  const said = new Saying();
  const servers = options.servers.length === 0 ? undefined : opening.use(await serversOf(options));
  const plugins = [...(servers === undefined ? [] : [instructions(servers)]), ...(options.plugins ?? [])];
  const tools = opening.use(
    new AgentTools({
      filter: options.filter,
      plugins,
      deferOver: options.deferOver,
      switchedOff: options.switchedOff,
      choices: new Map(Object.entries(options.saved?.toolChoices ?? {})),
      onNotice: (notice) => said.say({ type: "notice", ...notice }),
    }),
  );
  for (const source of options.base) tools.add(source, { always: true });
  if (servers !== undefined) tools.add(resultsSource(), { always: true }); // nobody else has results that are too long
  for (const source of servers?.sources ?? []) tools.add(source);
  const states = options.saved?.pluginStates ?? {};
  await tools.restorePlugins(states);
  const kept = new Map(Object.entries(states).map(([plugin, saved]) => [plugin, JSON.stringify(saved)]));
  let first = true;
  let running: TurnContext | undefined;
  let between: SessionDesk | undefined;
  const early: string[] = [];
  const closing = new AbortController();
  const calling = new Set<Promise<unknown>>();
  const offer = () =>
    offeredTools({
      tools,
      servers,
      cwd: options.cwd,
      marker: options.marker,
      turn: () => running,
      desk: () => between,
      reported: (tool) => options.reported?.(tool),
      unreported: (tool) => void early.push(tool),
      closing: closing.signal,
      calling,
    });
  const owned = opening.move();
  return {
    tools,
    held: { ...heldTools(tools, servers), offer },
    get running() {
      return running;
    },
    cameEarly: (tool) => {
      const at = tool === CALL ? 0 : early.indexOf(tool); // the program knows the call as that of the pair
      return at !== -1 && early.splice(at, 1).length > 0;
    },
    get desk() {
      return between;
    },
    attach: (desk) => {
      between = desk;
      said.attach(desk);
      servers?.attach(desk);
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
      if (first && servers !== undefined) await comeUp(servers, turn);
      first &&= turn.signal.aborted; // they had no time then
      const { turnId, signal } = turn;
      await tools.turnStarted({ turnId, signal });
      running = turn;
      early.length = 0;
      let status: TurnOutcome["status"] | LimitReached["status"] = "failed"; // where it rejects: plugins see that end too
      const outcome = await run()
        .then((ended) => {
          status = ended.status;
          return ended;
        })
        .finally(() => {
          running = undefined;
          return tools.turnEnded({ turnId, outcome: status });
        });
      turn.log.record(...changedStates(await tools.pluginStates(), kept));
      return outcome;
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new Error("the session was let go"));
      await Promise.race([Promise.allSettled(calling), sleep(STOP_MS, undefined, { ref: false })]);
      await owned[Symbol.asyncDispose]();
    },
  };
}

/** Loaded where there are servers: the command starts faster without. */
async function serversOf({ servers, cwd, env, marker, authorizer, sample }: EquipmentOptions): Promise<McpServers> {
  const { openServers } = await import("../mcp/index.ts");
  return openServers({ servers, cwd, env, marker, authorizer, sample });
}

async function comeUp(servers: McpServers, { signal, log }: TurnContext): Promise<void> {
  using enough = deadline(SERVERS_MS, signal);
  await servers.settled(enough.signal).catch(() => undefined);
  if (signal.aborted) return;
  const late = servers.snapshot().servers.filter(({ status }) => status === "connecting");
  if (late.length === 0) return;
  const names = late.map(({ name }) => name).join(", ");
  const message = `still connecting to ${names}: the turn begins without, and the next one has what is there then`;
  log.record({ type: "notice", level: "info", code: "mcp_late", message });
}

/** What servers say of themselves, for as long as the agent has one of their tools. */
function instructions(servers: McpServers): Plugin {
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

function changedStates(
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

const promptArguments: ArgumentCheck = (value) =>
  objectArgument({})(value) ?? listArgument(textArgument)(Object.values(value as object));

function heldTools(tools: AgentTools, servers: McpServers | undefined): Omit<SessionTools, "offer"> {
  const some = (server: string, signal?: AbortSignal): McpServers => {
    checkArgument(server, textArgument, "the server's name");
    checkArgument(signal, optionalArgument(signalArgument), "the signal");
    if (servers !== undefined) return servers;
    throw new RookeryError("mcp_unknown", `this session has no MCP server ${server}: it has none at all`);
  };
  return {
    list: () => [...tools.artifact().catalog.values()],
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
    settled: async (signal) => {
      checkArgument(signal, signalArgument, "the signal");
      await servers?.settled(signal);
    },
    getPrompt: async (server, name, args, signal) => {
      checkArgument(name, textArgument, "the prompt's name");
      checkArgument(args, promptArguments, "the arguments of the prompt");
      return some(server, signal).getPrompt(server, name, args, signal);
    },
    readResource: async (server, uri, signal) => {
      checkArgument(uri, textArgument, "the resource");
      return some(server, signal).readResource(server, uri, signal);
    },
    login: async (server, signal) => some(server, signal).login(server, signal),
    reconnect: (server) => some(server).reconnect(server),
  };
}

/** Keeps what is said until there is somewhere to say it. */
class Saying {
  #desk: SessionDesk | undefined;
  #waiting: EventBody[] = [];

  say(body: EventBody): void {
    if (this.#desk !== undefined) this.#desk.record(body);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(body);
  }

  attach(desk: SessionDesk): void {
    this.#desk = desk;
    desk.record(...this.#waiting);
    this.#waiting = [];
  }
}
