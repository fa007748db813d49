/** Slash commands of a session: built-in commands, which need no turn, and the prompts of its MCP servers. */
import type * as acp from "../../acp/schema.ts";
import type { McpPrompt } from "../../domain/mcp.ts";
import type { SessionState } from "../../domain/state.ts";
import { formatPromptCommand } from "../../session/index.ts";
import type { EditorSettings } from "./editor-settings.ts";

type Command = acp.AvailableCommand & { readonly answer: (state: SessionState, settings: EditorSettings) => string };

const COMMANDS: readonly Command[] = [
  { name: "status", description: "Show this session and how to open it in a terminal", answer: formatStatus },
  { name: "usage", description: "Show the tokens and the cost of this session", answer: formatUsage },
];

export function listSlashCommands(prompts: readonly McpPrompt[]): acp.AvailableCommand[] {
  return [...COMMANDS.map(({ name, description }) => ({ name, description })), ...prompts.map(toPromptCommand)];
}

function toPromptCommand(prompt: McpPrompt): acp.AvailableCommand {
  const { server, title, description, arguments: args } = prompt;
  const hint = args.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
  return {
    name: formatPromptCommand(prompt),
    description: description ?? title ?? `Prompt of the MCP server ${server}`,
    ...(hint !== "" && { input: { hint } }),
  };
}

/** Undefined if the text is not a built-in command. The agent then receives it. */
export function answerSlashCommand(text: string, state: SessionState, settings: EditorSettings): string | undefined {
  return COMMANDS.find(({ name }) => text === `/${name}`)?.answer(state, settings);
}

function formatStatus(state: SessionState, { agent, model, permissions, cwd }: EditorSettings): string {
  return formatList([
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

function formatUsage({ usage }: SessionState): string {
  return formatList([
    ["Input tokens", String(usage.inputTokens)],
    ["Read from cache", String(usage.cacheReadTokens)],
    ["Written to cache", String(usage.cacheWriteTokens)],
    ["Output tokens", String(usage.outputTokens)],
    ["Reasoning tokens", String(usage.reasoningTokens)],
    ["Cost", usage.costUsd === undefined ? "unknown" : `$${usage.costUsd.toFixed(4)}`],
  ]);
}

function formatList(rows: readonly (readonly [string, string | undefined])[]): string {
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`])).join("\n");
}
