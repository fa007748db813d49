/** `/model`. */
import { findMissingKey, KNOWN_MODELS, knownPrice, lookUpContextSize } from "../../../backends/model-keys.ts";
import { loadConfig, type Config } from "../../../config/load.ts";
import { stripHidden, toSingleLine } from "../../sanitize.ts";
import type { SelectItem } from "../../tui/select-list.ts";
import type { ChatHost } from "../host.ts";

/** The providers whose models a program accepts, without the name of the provider. */
const PROGRAM_PROVIDERS: Readonly<Record<string, string>> = { "claude-code": "anthropic", codex: "openai" };

/** opencode offers hundreds. */
const MAX_MODELS = 1_000;
const MAX_NAME_LENGTH = 80;

/** Lists the models that the configuration, the price table and the agent's program know. */
export async function listModelNames(chat: ChatHost): Promise<readonly string[]> {
  return listModels(chat, await readModelConfig(chat));
}

/** Lets the person choose or type a model if no name is given. */
export async function switchModel(chat: ChatHost, named: string): Promise<void> {
  if (named !== "") return chat.change({ model: named });
  const config = await readModelConfig(chat);
  const items = listModels(chat, config).map((name) => toModelItem(name, chat, config));
  const usable = [...items.filter(({ isDim = false }) => !isDim), ...items.filter(({ isDim = false }) => isDim)];
  const title = items.length === 0 ? `Type a model of ${chat.state.agent}` : `Switch the model of ${chat.state.agent}`;
  const chosen = await chat.keys.select(title, usable, { textLabel: "use" });
  if (chosen !== undefined) await chat.change({ model: chosen.value });
}

function listModels(chat: ChatHost, { agents, prices }: Config): readonly string[] {
  const { backend = "", agent, model } = chat.state;
  const isBuiltIn = backend === "api";
  const configured = Array.from(agents.values()).filter((one) =>
    isBuiltIn ? one.backend === "api" : one.name === agent,
  );
  const provider = PROGRAM_PROVIDERS[backend];
  const prefix = `${provider}/`;
  const ofProgram = provider === undefined ? [] : KNOWN_MODELS.filter((name) => name.startsWith(prefix));
  const names = [
    model ?? [],
    configured.flatMap((one) => one.model ?? []),
    isBuiltIn ? [...prices.keys(), ...KNOWN_MODELS] : offeredModels(chat),
    ofProgram.map((name) => name.slice(prefix.length)),
  ];
  return [...new Set(names.flat())].slice(0, MAX_MODELS);
}

/** Empty before the first prompt, which starts the program. */
function offeredModels({ connection }: ChatHost): readonly string[] {
  try {
    return connection.session?.models ?? [];
  } catch {
    return []; // the agent is lost
  }
}

function toModelItem(name: string, chat: ChatHost, { providers, prices }: Config): SelectItem {
  const { backend = "", model } = chat.state;
  const provider = PROGRAM_PROVIDERS[backend];
  const known = provider === undefined ? name : `${provider}/${name}`;
  const price = prices.get(known) ?? knownPrice(known);
  const size = lookUpContextSize(known);
  const hasKey =
    backend !== "api" || findMissingKey(name, { env: chat.io.env, providers }) === undefined || name === model;
  return {
    value: name,
    label: toSingleLine(stripHidden(name), MAX_NAME_LENGTH),
    facts: [
      size === undefined ? "" : `${formatTokens(size)} context`,
      price === undefined ? "" : `$${price.input} in, $${price.output} out /1M`,
    ],
    detail: hasKey ? "" : "no key",
    isDim: !hasKey,
    isCurrent: name === model,
  };
}

function formatTokens(count: number): string {
  return count >= 1_000_000 ? `${Math.round(count / 100_000) / 10}M` : `${Math.round(count / 1_000)}k`;
}

function readModelConfig({ cwd, io }: ChatHost): Promise<Config> {
  return loadConfig({ cwd, env: io.env, trust: "leave_out" });
}
