/** The `api` backend: the built-in agent on a model API. */
import { codingTools, openBuiltIn, systemPrompt, type Price } from "../agent/index.ts";
import { RookeryError, type Backend } from "../domain/index.ts";
import { openModel, type ProviderOptions } from "../providers/index.ts";
import { filtered, type ToolFilter } from "../tools/index.ts";
import { withoutSecrets } from "./secrets.ts";

export interface ApiBackendOptions extends ProviderOptions {
  readonly tools?: ToolFilter | undefined;
  /** The price of a model by its name, `provider/model`. */
  readonly priceOf?: ((model: string) => Price | undefined) | undefined;
}

export function apiBackend(options: ApiBackendOptions): Backend {
  return {
    kind: "api",
    open({ sessionId, agent, cwd, marker }) {
      if (agent.model === undefined) {
        const fix = `set model = "anthropic/…" under [agents.${agent.name}], or use --model`;
        return Promise.reject(new RookeryError("model_invalid", `agent ${agent.name} has no model: ${fix}`));
      }
      const connection = openBuiltIn({
        sessionId,
        cwd,
        marker,
        model: openModel(agent.model, options),
        system: systemPrompt(cwd, agent.prompts),
        tools: filtered(codingTools({ env: withoutSecrets(options.env) }), options.tools),
        price: options.priceOf?.(agent.model),
      });
      return Promise.resolve(connection);
    },
  };
}
