/** The commands of a chat that start with a slash. */
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import { formatColumns } from "../format.ts";
import { usageError } from "../exit.ts";
import type { ChatHost } from "./host.ts";

export interface SlashCommand {
  readonly name: string;
  /** Shown after the name, such as `[name]`. */
  readonly argument?: string;
  readonly summary: string;
  readonly run: (chat: ChatHost, argument: string) => Promise<void>;
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "help", summary: "list the commands and keys", run: async (chat) => chat.notice(formatChatHelp()) },
  {
    name: "agent",
    argument: "[name]",
    summary: "switch the agent; the conversation goes on",
    run: async (chat, name) => {
      const { loadConfig, resolveAgent } = await import("../../config/load.ts");
      const config = await loadConfig({ cwd: chat.cwd, env: chat.io.env, trust: "leave_out" });
      if (name !== "") return chat.change({ agent: resolveAgent(config, name).name });
      const items = Array.from(config.agents.values(), ({ name: value, backend, model = "" }) => ({
        value,
        label: value,
        detail: `${backend} ${model}`.trim(),
      }));
      const chosen = await chat.keys.select("Switch to an agent", items);
      if (chosen !== undefined) await chat.change({ agent: chosen.value });
    },
  },
  {
    name: "model",
    argument: "<name>",
    summary: "switch the model of the agent",
    run: async (chat, name) => {
      if (name === "")
        throw usageError(`the model is ${chat.state.model ?? "the agent's default"}; switch with /model NAME`);
      await chat.change({ model: name });
    },
  },
  {
    name: "permissions",
    argument: `[${PERMISSION_POLICIES.join("|")}]`,
    summary: "ask for each change, allow only reads, allow all, or allow none",
    run: async (chat, typed) => {
      const items = PERMISSION_POLICIES.map((value) => ({ value, label: value }));
      const name = typed === "" ? (await chat.keys.select("Permissions", items))?.value : typed;
      if (name === undefined) return;
      const permissions = PERMISSION_POLICIES.find((policy) => policy === name);
      if (permissions === undefined) throw usageError(`permissions are one of ${PERMISSION_POLICIES.join(", ")}`);
      await chat.change({ permissions });
    },
  },
  {
    name: "resume",
    summary: "continue another conversation of this directory",
    run: async (chat) => {
      const summary = await chat.pickConversation();
      if (summary !== undefined) await chat.continueSession(summary);
    },
  },
  { name: "quit", summary: "leave; `rookery chat -c` continues", run: async (chat) => chat.quit() },
];

/** Returns false if the text is not a command of the chat, for example a prompt of an MCP server. */
export async function runSlashCommand(chat: ChatHost, text: string): Promise<boolean> {
  const [, name, argument = ""] = /^\/([a-z]+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const command = SLASH_COMMANDS.find((one) => one.name === name);
  if (command === undefined) return false;
  await command.run(chat, argument.trim());
  return true;
}

function formatChatHelp(): string {
  const rows = SLASH_COMMANDS.map(({ name, argument, summary }) => [
    `/${name}${argument === undefined ? "" : ` ${argument}`}`,
    summary,
  ]);
  return `${formatColumns(rows)}\n${formatColumns(KEY_HELP)}`.trimEnd();
}

const KEY_HELP = [
  ["Enter", "send; while the agent works, for its next step"],
  ["Alt-Enter", "send; while the agent works, after its turn"],
  ["Ctrl-J or \\ Enter", "a new line"],
  ["Esc", "interrupt the turn"],
  ["Ctrl-C", "clear the input; twice to quit"],
  ["Ctrl-D", "quit, if the input is empty"],
];
