/** `/agent`, `/model` and `/permissions`. */
import { loadConfig, resolveAgent, type Config } from "../../../config/load.ts";
import { PERMISSION_POLICIES } from "../../../domain/enums.ts";
import { usageError } from "../../exit.ts";
import { findMissingKey, KNOWN_MODELS } from "../../../backends/model-keys.ts";
import { checkReadiness } from "../../../backends/readiness.ts";
import { formatNotReady } from "../greeting.ts";
import type { ChatHost } from "../host.ts";

export async function listAgentNames(chat: ChatHost): Promise<readonly string[]> {
  return [...(await readConfig(chat)).agents.keys()];
}

/** Lets the person choose if no name is given: agents that are ready come first. */
export async function switchAgent(chat: ChatHost, named: string): Promise<void> {
  const config = await readConfig(chat);
  if (named !== "") return chat.change({ agent: resolveAgent(config, named).name });
  const { providers } = config;
  const here = { env: chat.io.env, cwd: chat.cwd, providers };
  const agents = Array.from(config.agents.values(), (agent) => ({ agent, ...checkReadiness(agent, here) }));
  const items = [...agents.filter(({ ready }) => ready), ...agents.filter(({ ready }) => !ready)].map(
    ({ agent: { name, backend, model = "" }, ready, lacks }) => ({
      value: name,
      label: name,
      detail: ready ? `${backend} ${model}`.trim() : `not ready: ${lacks === undefined ? "not set up" : LACKS[lacks]}`,
      isDim: !ready,
    }),
  );
  const chosen = await chat.keys.select("Switch to an agent", items);
  const { ready = true, missing = "" } = agents.find(({ agent }) => agent.name === chosen?.value) ?? {};
  if (chosen === undefined) return;
  if (!ready) return chat.notice(formatNotReady(chosen.value, missing), "yellow");
  await chat.change({ agent: chosen.value });
}

const LACKS = { program: "not installed", login: "logged out", key: "no key" } as const;

/** The models that Rookery knows for the built-in agent, and those of the configuration. Programs do not list theirs. */
export async function listModelNames(chat: ChatHost): Promise<readonly string[]> {
  const { agents, prices } = await readConfig(chat);
  const { backend, agent } = chat.state;
  const isBuiltIn = backend === "api";
  const configured = [...agents.values()].filter((one) => (isBuiltIn ? one.backend === "api" : one.name === agent));
  const names = configured.flatMap(({ model }) => model ?? []);
  return [...new Set([...names, ...(isBuiltIn ? [...prices.keys(), ...KNOWN_MODELS] : [])])];
}

export async function switchModel(chat: ChatHost, named: string): Promise<void> {
  if (named !== "") return chat.change({ model: named });
  const current = chat.state.model;
  const names = await listModelNames(chat);
  if (names.length < 2) {
    const which = current === undefined ? "uses its own default model" : `uses ${current}`;
    return chat.notice(`${chat.state.agent} ${which}; switch with /model NAME`, "dim");
  }
  const { providers } = await readConfig(chat);
  const items = names.map((name) => {
    const hasKey = findMissingKey(name, { env: chat.io.env, providers }) === undefined;
    return { value: name, label: name, detail: name === current ? "current" : hasKey ? "" : "no key", isDim: !hasKey };
  });
  const sorted = [...items.filter(({ isDim }) => !isDim), ...items.filter(({ isDim }) => isDim)];
  const chosen = await chat.keys.select("Switch the model", sorted);
  if (chosen !== undefined) await chat.change({ model: chosen.value });
}

export async function switchPermissions(chat: ChatHost, named: string): Promise<void> {
  const items = PERMISSION_POLICIES.map((value) => ({ value, label: value, detail: POLICY_MEANINGS[value] }));
  const name = named === "" ? (await chat.keys.select("Permissions", items))?.value : named;
  if (name === undefined) return;
  const permissions = PERMISSION_POLICIES.find((policy) => policy === name);
  if (permissions === undefined) throw usageError(`permissions are one of ${PERMISSION_POLICIES.join(", ")}`);
  await chat.change({ permissions });
}

const POLICY_MEANINGS: Record<(typeof PERMISSION_POLICIES)[number], string> = {
  ask: "ask before each change",
  read: "allow only what reads",
  all: "allow everything",
  none: "allow nothing",
};

function readConfig({ cwd, io }: ChatHost): Promise<Config> {
  return loadConfig({ cwd, env: io.env, trust: "leave_out" });
}
