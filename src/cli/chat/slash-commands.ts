/** The commands of a chat that start with a slash. */
import { didYouMean } from "../../stdx/nearest.ts";
import { usageError } from "../exit.ts";
import type { CompletableCommand } from "./input/completion.ts";
import type { ChatHost } from "./host.ts";

export interface SlashCommand {
  readonly name: string;
  /** Other names, under which people look for it. `/help` does not list them. */
  readonly aliases?: readonly string[];
  /** Shown after the name, such as `[name]`. */
  readonly argument?: string;
  readonly summary: string;
  /** Values of the argument, for completion. */
  readonly values?: (chat: ChatHost) => Promise<readonly string[]>;
  readonly run: (chat: ChatHost, argument: string) => Promise<void>;
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: "help",
    summary: "list the commands and keys",
    run: async (chat) => (await import("./commands/help.ts")).showHelp(chat, SLASH_COMMANDS),
  },
  {
    name: "new",
    aliases: ["clear"],
    summary: "start an empty conversation; /resume goes back",
    run: async (chat) => chat.startNewConversation(),
  },
  {
    name: "agent",
    argument: "[name]",
    summary: "switch the agent; the conversation continues",
    values: async (chat) => (await import("./commands/settings.ts")).listAgentNames(chat),
    run: async (chat, name) => (await import("./commands/settings.ts")).switchAgent(chat, name),
  },
  {
    name: "model",
    argument: "[name]",
    summary: "switch the model of the agent",
    values: async (chat) => (await import("./commands/model.ts")).listModelNames(chat),
    run: async (chat, model) => (await import("./commands/model.ts")).switchModel(chat, model),
  },
  {
    name: "permissions",
    argument: "[policy]",
    summary: "change when it asks, or revoke what is always allowed",
    values: async (chat) => (await import("./commands/permissions.ts")).listPermissionValues(chat),
    run: async (chat, named) => (await import("./commands/permissions.ts")).switchPermissions(chat, named),
  },
  {
    name: "attach",
    argument: "<file>",
    summary: "send an image or another file with the next prompt",
    run: async (chat, file) => (await import("./commands/attach.ts")).attachFile(chat, file),
  },
  {
    name: "diff",
    summary: "show the uncommitted changes of the repository",
    run: async (chat) => (await import("./commands/files.ts")).showDiff(chat),
  },
  {
    name: "output",
    summary: "show the whole output of the last command",
    run: async (chat) => (await import("./commands/files.ts")).showOutput(chat),
  },
  {
    name: "undo",
    summary: "undo the file changes since your last prompt",
    run: async (chat) => (await import("./commands/files.ts")).undoChanges(chat),
  },
  {
    name: "fork",
    summary: "continue in a copy of this conversation",
    run: async (chat) => (await import("./commands/conversation.ts")).forkConversation(chat),
  },
  {
    name: "compact",
    summary: "continue from a summary that the agent writes",
    run: async (chat) => (await import("./commands/conversation.ts")).compactConversation(chat),
  },
  {
    name: "resume",
    summary: "continue another conversation in this directory",
    run: async (chat) => {
      const summary = await chat.pickConversation();
      if (summary !== undefined) await chat.continueSession(summary);
    },
  },
  {
    name: "queue",
    summary: "switch Enter between the agent's next step and next turn",
    run: async (chat) => {
      chat.keys.deliver = chat.keys.deliver === "steer" ? "follow_up" : "steer";
      const when = chat.keys.deliver === "steer" ? "for the agent's next step" : "after the agent's turn";
      chat.notice(`what you type while the agent works is now delivered ${when}`, "dim");
    },
  },
  {
    name: "usage",
    summary: "show the tokens and the cost of this conversation",
    run: async (chat) => (await import("./commands/status.ts")).showUsage(chat),
  },
  {
    name: "mcp",
    summary: "list the MCP servers of this conversation",
    run: async (chat) => (await import("./commands/status.ts")).showServers(chat),
  },
  {
    name: "tasks",
    summary: "list the tasks of this repository",
    run: async (chat) => (await import("./commands/tasks.ts")).listTasks(chat),
  },
  {
    name: "task",
    argument: "<prompt>",
    summary: "start a task in its own git worktree",
    run: async (chat, prompt) => (await import("./commands/tasks.ts")).startTask(chat, prompt),
  },
  {
    name: "export",
    argument: "[file]",
    summary: "write the conversation to a Markdown file",
    run: async (chat, file) => (await import("./commands/export.ts")).exportConversation(chat, file),
  },
  { name: "quit", aliases: ["exit"], summary: "leave; `rookery -c` continues", run: async (chat) => chat.quit() },
];

/** Returns false if the text is for the agent, such as a prompt of an MCP server or a command of its program. */
export async function runSlashCommand(chat: ChatHost, text: string): Promise<boolean> {
  const [, name, argument = ""] = /^\/([a-z]+)(?:\s+([^]*))?$/.exec(text) ?? [];
  if (name === undefined) return false;
  const command = SLASH_COMMANDS.find((one) => one.name === name || one.aliases?.includes(name));
  if (command === undefined) {
    if (chat.state.backend !== "api") return false;
    const names = SLASH_COMMANDS.map((one) => `/${one.name}`);
    throw usageError(`there is no command /${name}${didYouMean(`/${name}`, names)}; /help lists the commands`);
  }
  chat.echo(text);
  await command.run(chat, argument.trim());
  return true;
}

/** The commands of the chat, the prompts of the session's MCP servers, and the commands of the agent's program. */
export function listCompletions(chat: ChatHost): readonly CompletableCommand[] {
  const own = SLASH_COMMANDS.flatMap(({ name, aliases = [], argument, summary, values }) =>
    [name, ...aliases].map((one) => ({ name: one, argument, summary, values: values && (() => values(chat)) })),
  );
  const names = new Set(own.map(({ name }) => name)); // these run here
  return [...own, ...listServerPrompts(chat), ...listAgentCommands(chat).filter(({ name }) => !names.has(name))];
}

function listAgentCommands({ connection, state }: ChatHost): CompletableCommand[] {
  try {
    return (connection.session?.commands ?? []).map(({ name, description, hint }) => ({
      name,
      argument: hint,
      summary: `${state.agent}: ${description}`,
    }));
  } catch {
    return []; // the agent is lost
  }
}

function listServerPrompts({ connection }: ChatHost): CompletableCommand[] {
  try {
    const servers = connection.session?.tools.servers().servers ?? [];
    return servers.flatMap(({ prompts }) =>
      prompts.map(({ server, name, title, description, arguments: args }) => ({
        name: `${server}:${name}`,
        argument: args.map((one) => (one.required ? `${one.name}=…` : `[${one.name}=…]`)).join(" "),
        summary: description ?? title ?? `prompt of the MCP server ${server}`,
      })),
    );
  } catch {
    return []; // the agent uses only its own tools
  }
}
