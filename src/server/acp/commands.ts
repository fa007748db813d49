/** The slash commands of a session: those of the door itself, answered from the log without a turn, and its servers' prompts. */
import type * as acp from "../../acp/schema.ts";
import type { McpPrompt } from "../../domain/mcp.ts";
import type { SessionState } from "../../domain/state.ts";
import { formatPromptCommand } from "../../session/index.ts";
import type { Settings } from "./options.ts";

type Command = acp.AvailableCommand & { readonly answer: (state: SessionState, settings: Settings) => string };

const COMMANDS: readonly Command[] = [
  { name: "status", description: "What this session is, and how to reach it from a terminal", answer: status },
  { name: "usage", description: "The tokens that this session used, and what they cost", answer: usage },
];

export function commandsWith(prompts: readonly McpPrompt[]): acp.AvailableCommand[] {
  return [...COMMANDS.map(({ name, description }) => ({ name, description })), ...prompts.map(promptCommand)];
}

function promptCommand(prompt: McpPrompt): acp.AvailableCommand {
  const { server, title, description, arguments: args } = prompt;
  const hint = args.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
  return {
    name: formatPromptCommand(prompt),
    description: description ?? title ?? `A prompt of the MCP server ${server}`,
    ...(hint !== "" && { input: { hint } }),
  };
}

/** Undefined where the text is no command of the door: it is the agent's then. */
export function answerTo(text: string, state: SessionState, settings: Settings): string | undefined {
  return COMMANDS.find(({ name }) => text === `/${name}`)?.answer(state, settings);
}

function status(state: SessionState, { agent, model, permissions, cwd }: Settings): string {
  return lines([
    ["Session", state.id],
    ["Agent", agent],
    ["Model", model],
    ["Permissions", permissions],
    ["Folder", cwd],
    ["Turns", String(state.turns)],
    ["Last turn", state.lastOutcome?.status],
    ["In a terminal", `rookery sessions show ${state.id}`],
  ]);
}

function usage({ usage }: SessionState): string {
  return lines([
    ["Tokens in", String(usage.inputTokens)],
    ["from the cache", String(usage.cacheReadTokens)],
    ["into the cache", String(usage.cacheWriteTokens)],
    ["Tokens out", String(usage.outputTokens)],
    ["for thinking", String(usage.reasoningTokens)],
    ["Cost", usage.costUsd === undefined ? "unknown" : `$${usage.costUsd.toFixed(4)}`],
  ]);
}

function lines(rows: readonly (readonly [string, string | undefined])[]): string {
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`])).join("\n");
}
