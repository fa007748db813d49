/** `/agent` and `/permissions`. */
import { loadConfig, resolveAgent, type Config } from "../../../config/load.ts";
import { PERMISSION_POLICIES } from "../../../domain/enums.ts";
import { usageError } from "../../exit.ts";
import { checkReadiness } from "../../../backends/readiness.ts";
import type { ChatHost } from "../host.ts";

export async function listAgentNames(chat: ChatHost): Promise<readonly string[]> {
  return [...(await readConfig(chat)).agents.keys()];
}

/** Lets the person choose if no name is given. */
export async function switchAgent(chat: ChatHost, named: string): Promise<void> {
  const config = await readConfig(chat);
  if (named !== "") return chat.change({ agent: resolveAgent(config, named).name });
  const { providers } = config;
  const here = { env: chat.io.env, cwd: chat.cwd, providers };
  const items = Array.from(config.agents.values(), (agent) => {
    const { ready, missing = "" } = checkReadiness(agent, here);
    const detail = ready ? `${agent.backend} ${agent.model ?? ""}`.trim() : `not ready: ${missing}`;
    return { value: agent.name, label: agent.name, detail };
  });
  const chosen = await chat.keys.select("Switch to an agent", items);
  if (chosen !== undefined) await chat.change({ agent: chosen.value });
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
