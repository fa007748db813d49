/** The session settings that a user can change in an editor: permission mode, model and agent. */
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { invalidParams } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { loadConfig, type Config } from "../../config/index.ts";
import { PermissionPolicy } from "../../domain/events.ts";
import type { SessionState } from "../../domain/state.ts";

export type EditorSettings = Pick<SessionState, "agent" | "model" | "permissions" | "cwd">;
/** The settings to change. Omitted settings stay as they are. */
export type SettingsChange = { readonly [Key in "agent" | "model"]?: string } & {
  readonly permissions?: PermissionPolicy;
};

const MODES: Readonly<Record<PermissionPolicy, Omit<acp.SessionMode, "id">>> = {
  ask: { name: "Ask first", description: "The agent may read, and asks before each change." },
  read: { name: "Read only", description: "The agent may only read." },
  all: { name: "Allow everything", description: "The agent may change files and run commands without asking." },
  none: { name: "Refuse everything", description: "The agent may not use any tool that needs permission." },
};

export function toModeState({ permissions }: EditorSettings): acp.SessionModeState {
  const availableModes = PermissionPolicy.options.map((id) => ({ id, ...MODES[id] }));
  return { currentModeId: permissions, availableModes };
}

export async function loadConfigOptions(
  settings: EditorSettings,
  env: EnvironmentVariables,
): Promise<acp.SessionConfigOption[]> {
  // Opening a session checks the trust of the repository. This function only lists agent names.
  const config = await loadConfig({ cwd: settings.cwd, env, trust: "leave_out" }).catch(() => undefined);
  const mode = PermissionPolicy.options.map((value) => ({ value, ...MODES[value] }));
  const agents = toSelectValues([...(config?.agents.keys() ?? [])], settings.agent);
  const options = [toSelectOption("mode", "Permissions", "mode", settings.permissions, mode)];
  if (settings.model !== undefined) {
    const models = toSelectValues(listModels(config), settings.model);
    options.push(toSelectOption("model", "Model", "model", settings.model, models));
  }
  options.push(toSelectOption("agent", "Agent", "_agent", settings.agent, agents));
  return options;
}

/** Throws -32602 (invalid params) for an unknown option or value. */
export function parseSettingsChange(
  options: readonly acp.SessionConfigOption[],
  configId: string,
  value: unknown,
): SettingsChange {
  const option = options.find(({ id }) => id === configId);
  if (option?.type !== "select") {
    throw invalidParams(`unknown option ${configId}: use one of ${options.map(({ id }) => id).join(", ")}`);
  }
  if (typeof value !== "string") throw invalidParams(`the option ${configId} is not a boolean: send one of its values`);
  switch (configId) {
    case "mode":
      return { permissions: parsePolicy(value) };
    case "model":
      return { model: value }; // the provider rejects unknown models
    default: {
      const values = option.options.flatMap((entry) => ("value" in entry ? [entry.value] : []));
      if (!values.includes(value)) throw invalidParams(`unknown ${configId} ${value}: use one of ${values.join(", ")}`);
      return { agent: value };
    }
  }
}

export function parsePolicy(value: string): PermissionPolicy {
  const policy = PermissionPolicy.safeParse(value);
  if (policy.success) return policy.data;
  throw invalidParams(`unknown mode ${value}: use one of ${PermissionPolicy.options.join(", ")}`);
}

type SelectValue = acp.SessionConfigSelectOption;

function toSelectOption(id: string, name: string, category: string, currentValue: string, options: SelectValue[]) {
  return { type: "select", id, name, category, currentValue, options } satisfies acp.SessionConfigOption;
}

/** All models in the configuration. The provider may offer more. */
function listModels(config: Config | undefined): string[] {
  if (config === undefined) return [];
  const named = Array.from(config.agents.values(), ({ backend, model }) => (backend === "api" ? model : undefined));
  return [...named.filter((model) => model !== undefined), ...config.prices.keys()];
}

function toSelectValues(names: readonly string[], current: string): SelectValue[] {
  return Array.from(new Set([current, ...names]), (value) => ({ value, name: value }));
}
