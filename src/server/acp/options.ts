/** What a person can choose for a session in an editor: how it asks for permission, the model, and the agent. */
import { invalidParams } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { loadConfig, type Config } from "../../config/index.ts";
import type { EnvironmentVariables } from "../../stdx/environment.ts";
import { PermissionPolicy } from "../../domain/events.ts";
import type { SessionState } from "../../domain/state.ts";

export type Settings = Pick<SessionState, "agent" | "model" | "permissions" | "cwd">;
/** What someone wants to be otherwise. */
export type Choice = { readonly [Key in "agent" | "model"]?: string } & { readonly permissions?: PermissionPolicy };

const MODES: Readonly<Record<PermissionPolicy, Omit<acp.SessionMode, "id">>> = {
  ask: { name: "Ask first", description: "Reading is free; for each change you are asked." },
  read: { name: "Read only", description: "The agent may read, and nothing else." },
  all: { name: "Allow everything", description: "Nothing is asked: the agent may change files and run commands." },
  none: { name: "Refuse everything", description: "The agent may use no tool that needs a permission." },
};

export function modesOf({ permissions }: Settings): acp.SessionModeState {
  const availableModes = PermissionPolicy.options.map((id) => ({ id, ...MODES[id] }));
  return { currentModeId: permissions, availableModes };
}

export async function optionsOf(settings: Settings, env: EnvironmentVariables): Promise<acp.SessionConfigOption[]> {
  // Whether the repository is trusted is asked when a session is opened in it; here its agents are only named.
  const config = await loadConfig({ cwd: settings.cwd, env, trust: "leave_out" }).catch(() => undefined);
  const mode = PermissionPolicy.options.map((value) => ({ value, ...MODES[value] }));
  const agents = among([...(config?.agents.keys() ?? [])], settings.agent);
  const options = [select("mode", "Permissions", "mode", settings.permissions, mode)];
  if (settings.model !== undefined) {
    const models = among(modelsOf(config), settings.model);
    options.push(select("model", "Model", "model", settings.model, models));
  }
  options.push(select("agent", "Agent", "_agent", settings.agent, agents));
  return options;
}

/** Throws -32602 where there is no such option, or it has no such value. */
export function choiceOf(options: readonly acp.SessionConfigOption[], configId: string, value: unknown): Choice {
  const option = options.find(({ id }) => id === configId);
  if (option?.type !== "select") {
    throw invalidParams(`there is no option ${configId}; there are: ${options.map(({ id }) => id).join(", ")}`);
  }
  if (typeof value !== "string") throw invalidParams(`the option ${configId} takes one of its values, not a boolean`);
  switch (configId) {
    case "mode":
      return { permissions: policyOf(value) };
    case "model":
      return { model: value }; // any that the provider knows; it says so where it does not
    default: {
      const values = option.options.flatMap((entry) => ("value" in entry ? [entry.value] : []));
      if (!values.includes(value)) throw invalidParams(`${configId} is one of ${values.join(", ")}, not ${value}`);
      return { agent: value };
    }
  }
}

export function policyOf(value: string): PermissionPolicy {
  const policy = PermissionPolicy.safeParse(value);
  if (policy.success) return policy.data;
  throw invalidParams(`there is no mode ${value}; there are: ${PermissionPolicy.options.join(", ")}`);
}

type Value = acp.SessionConfigSelectOption;

function select(id: string, name: string, category: string, currentValue: string, options: Value[]) {
  return { type: "select", id, name, category, currentValue, options } satisfies acp.SessionConfigOption;
}

/** The models that the configuration names anywhere; a provider has more. */
function modelsOf(config: Config | undefined): string[] {
  if (config === undefined) return [];
  const named = Array.from(config.agents.values(), ({ backend, model }) => (backend === "api" ? model : undefined));
  return [...named.filter((model) => model !== undefined), ...config.prices.keys()];
}

function among(names: readonly string[], current: string): Value[] {
  return Array.from(new Set([current, ...names]), (value) => ({ value, name: value }));
}
