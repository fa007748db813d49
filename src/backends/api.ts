/** The `api` backend: the built-in agent on a model API. */
import {
  RETRY_LIMITS,
  describeDisabledCode,
  createCodeTool,
  createCodingTools,
  openBuiltInAgent,
  createSubagentTools,
  createSystemPrompt,
  createUsageEvent,
  type CodeLimits,
  type ModelPrice,
  type Subagents,
} from "../agent/index.ts";
import { childEnvironment } from "../domain/child-environment.ts";
import {
  RookeryError,
  SUBAGENT_LIMITS,
  type AgentConnection,
  type Backend,
  type BackendContext,
  type TurnContext,
} from "../domain/index.ts";
import { keyVariables, knownPrice, openNamedModel, type ProviderOptions } from "../providers/index.ts";
import { DisposeStack } from "../stdx/index.ts";
import { openEquipment, type Equipment, type AgentResources } from "./equipment.ts";
import { sample, type Sampler } from "./sampling.ts";

export interface ApiBackendOptions extends ProviderOptions {
  readonly resources?: AgentResources | undefined;
  /** Looks up the price of a model by `provider/model`. Takes precedence over the built-in prices. */
  readonly priceOf?: ((model: string) => ModelPrice | undefined) | undefined;
  /** Number of retries after a transient failure of the model. Default: `RETRY_LIMITS.retries`. */
  readonly retries?: number | undefined;
  /** Timeouts of tools in seconds, by tool name or by prefix with a `*`. */
  readonly timeouts?: Readonly<Record<string, number>> | undefined;
  /** Absolute folders that the file tools may access besides the working directory. */
  readonly folders?: readonly string[] | undefined;
  /** The key under which the provider caches prompts. Default: the session ID. */
  readonly cacheKey?: string | undefined;
  /** Limits of the `code` tool. Without them the tool is off. */
  readonly code?: Partial<CodeLimits> | undefined;
  /** Names of variables that commands get even though they hold credentials. Default: none. */
  readonly passEnv?: readonly string[] | undefined;
}

export function apiBackend(options: ApiBackendOptions): Backend {
  return { kind: "api", open: (context) => openApi(context, options) };
}

async function openApi(context: BackendContext, options: ApiBackendOptions): Promise<AgentConnection> {
  const { sessionId, agent, cwd, marker, mcpServers = [], saved } = context;
  if (agent.model === undefined) {
    const fix = `set model = "anthropic/…" under [agents.${agent.name}], or use --model`;
    throw new RookeryError("model_invalid", `agent ${agent.name} has no model: ${fix}`);
  }
  const model = await openNamedModel(agent.model, options);
  const price = options.priceOf?.(agent.model) ?? model.price ?? knownPrice(agent.model);
  const keys = keyVariables(options.providers);
  const env = childEnvironment(options.env, { keys });
  const sampler: Sampler = {
    model,
    usageOf: (reply) => createUsageEvent(reply, model.name, price),
    turn: () => equipment.running,
    betweenTurns: () => equipment.betweenTurns,
  };
  const { servers = [], ...wanted } = options.resources ?? {};
  const { folders, code } = options;
  const coding = createCodingTools({
    env: childEnvironment(options.env, { pass: options.passEnv, keys }),
    folders,
    record: (body) => equipment.betweenTurns?.record(body),
    readHistory: () => equipment.running?.history(),
  });
  const subagents = openSubagents(context, () => equipment.running);
  const programs = code === undefined ? [] : [createCodeTool({ limits: code })];
  const equipment: Equipment = await openEquipment({
    ...wanted,
    cwd,
    marker,
    env,
    saved,
    base: [coding, ...(subagents === undefined ? [] : [subagents]), ...programs],
    switchedOff: code === undefined ? describeDisabledCode(agent.name) : undefined,
    servers: [...servers, ...mcpServers],
    sample: (request, context) => sample(sampler, request, context),
  });
  const owned = new DisposeStack();
  owned.use(equipment);
  owned.use(coding);
  if (subagents !== undefined) owned.use(subagents); // disposed first, because they use the equipment
  const { tools, sessionTools } = equipment;
  const system = createSystemPrompt(cwd, agent.prompts, folders);
  const { name, budget } = agent;
  const { retries = RETRY_LIMITS.retries, timeouts } = options;
  const retry = { ...RETRY_LIMITS, retries };
  const builtIn = openBuiltInAgent({
    sessionId,
    cwd,
    marker,
    model,
    system,
    tools,
    price,
    name,
    budget,
    retry,
    timeouts,
    cacheKey: options.cacheKey,
  });
  return {
    ...builtIn,
    get activityCount() {
      return builtIn.activityCount;
    },
    tools: sessionTools,
    attach: (betweenTurns) => equipment.attach(betweenTurns),
    returned: (saved) => equipment.restore(saved), // the built-in agent reads the conversation from the log
    runTurn: (turn) =>
      equipment.turn(turn, async () => {
        const end = await builtIn.runTurn(turn);
        if (end.status !== "limited") await subagents?.settle(turn);
        return end;
      }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Returns undefined at the maximum depth: a tool outside the catalog cannot be called. */
function openSubagents(
  { children, sessionId, agent }: BackendContext,
  turn: () => TurnContext | undefined,
): Subagents | undefined {
  const { subagents: limits = SUBAGENT_LIMITS, name } = agent;
  if (children === undefined || limits === false || children.depth >= limits.maxDepth) return undefined;
  return createSubagentTools({ sessionId, agent: name, children, limits, turn });
}
