/** `/agent`. */
import { loadConfig, resolveAgent, type Config } from "../../../config/load.ts";
import { checkReadiness } from "../../../backends/readiness.ts";
import { formatNotReady } from "../start/greeting.ts";
import type { ChatHost } from "../host.ts";

export async function listAgentNames(chat: ChatHost): Promise<readonly string[]> {
  return [...(await readConfig(chat)).agents.keys()];
}

/** Lets the person choose if no name is given. Agents that are ready come first. */
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
      facts: [backend === "api" ? "built in" : backend],
      detail: ready ? model : LACKS[lacks ?? "setup"],
      isDim: !ready,
      isCurrent: name === chat.state.agent,
    }),
  );
  const chosen = await chat.keys.select("Switch to an agent", items);
  const missing = agents.find(({ agent }) => agent.name === chosen?.value)?.missing;
  if (chosen === undefined) return;
  if (missing !== undefined) return chat.notice(formatNotReady(chosen.value, missing), "yellow");
  await chat.change({ agent: chosen.value });
}

const LACKS = { program: "not installed", login: "logged out", key: "no key", setup: "not set up" } as const;

function readConfig({ cwd, io }: ChatHost): Promise<Config> {
  return loadConfig({ cwd, env: io.env, trust: "leave_out" });
}
