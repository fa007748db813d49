/** The `api` backend: the built-in agent on a model API. */
import { codingTools, openBuiltIn, systemPrompt, usageEvent, type Price } from "../agent/index.ts";
import { RookeryError, type AgentConnection, type Backend, type BackendContext } from "../domain/index.ts";
import { openModel, type ProviderOptions } from "../providers/index.ts";
import { openEquipment, type Equipment, type Wanted } from "./equipment.ts";
import { sample, type Sampler } from "./sampling.ts";
import { withoutSecrets } from "./secrets.ts";

export interface ApiBackendOptions extends ProviderOptions {
  readonly wanted?: Wanted | undefined;
  /** The price of a model by its name, `provider/model`. */
  readonly priceOf?: ((model: string) => Price | undefined) | undefined;
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
  const model = openModel(agent.model, options);
  const price = options.priceOf?.(agent.model);
  const env = withoutSecrets(options.env);
  const sampler: Sampler = {
    model,
    usageOf: (reply) => usageEvent(reply, model.name, price),
    turn: () => equipment.running,
    desk: () => equipment.desk,
  };
  const { servers = [], ...wanted } = options.wanted ?? {};
  const equipment: Equipment = await openEquipment({
    ...wanted,
    cwd,
    marker,
    env,
    saved,
    base: [codingTools({ env })],
    servers: [...servers, ...mcpServers],
    sample: (request, asking) => sample(sampler, request, asking),
  });
  const { tools, held } = equipment;
  const system = systemPrompt(cwd, agent.prompts);
  const builtIn = openBuiltIn({ sessionId, cwd, marker, model, system, tools, price });
  return {
    ...builtIn,
    get heard() {
      return builtIn.heard;
    },
    tools: held,
    attach: (desk) => equipment.attach(desk),
    runTurn: (turn) => equipment.turn(turn, () => builtIn.runTurn(turn)),
    [Symbol.asyncDispose]: () => equipment[Symbol.asyncDispose](),
  };
}
