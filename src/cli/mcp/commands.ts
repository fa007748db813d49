/** The subcommands of `rookery mcp`. */
import { ADD_DIR_OPTION, JSON_OPTION, PERMISSIONS_OPTION, REPOSITORY_OPTION } from "../command-options.ts";
import type { CommandSpec } from "../command.ts";

const SERVER = { name: "name", summary: "a server from `rookery mcp list`" };

export const mcpCommands: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "list the MCP servers declared here, with their status and how to fix problems",
    options: [
      { flags: "--agent <name>", summary: "only servers of this agent" },
      { flags: "--timeout <seconds>", summary: "how long to wait for connections (default: 15)" },
      { flags: "--offline", summary: "do not connect" },
      JSON_OPTION,
    ],
    notes:
      "Servers are declared as [mcp.NAME] in the rookery.toml of the repository or of the user, and in .mcp.json.\n" +
      "The command connects to each server and then disconnects.",
    examples: ["rookery mcp", "rookery mcp list --agent reviewer --json"],
    load: async () => (await import("./list.ts")).listServersCommand,
  },
  {
    name: "tools",
    summary: "list the tools of a server",
    arguments: [SERVER],
    options: [JSON_OPTION],
    examples: ["rookery mcp tools files"],
    load: async () => (await import("./tools.ts")).listToolsCommand,
  },
  {
    name: "add",
    summary: "declare a server in your configuration: a command, or the URL of a remote server",
    arguments: [
      { name: "name", summary: "a name for the server" },
      { name: "command", summary: "the command that starts it", optional: true, rest: true },
    ],
    options: [
      { flags: "--url <url>", summary: "the URL of a remote server" },
      { flags: "--env <assignment>", summary: "NAME=VALUE for its environment", repeatable: true },
      { flags: "--header <assignment>", summary: "NAME=VALUE for each request", repeatable: true },
      REPOSITORY_OPTION,
      JSON_OPTION,
    ],
    notes: "Do not write secrets: a value such as ${TOKEN} is read from the environment.",
    examples: [
      "rookery mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
      "rookery mcp add hub --url https://hub.example/mcp --header 'Authorization=Bearer ${HUB_TOKEN}'",
    ],
    load: async () => (await import("./change.ts")).addServerCommand,
  },
  {
    name: "remove",
    summary: "remove a server from your configuration",
    arguments: [SERVER],
    options: [REPOSITORY_OPTION, JSON_OPTION],
    examples: ["rookery mcp remove files"],
    load: async () => (await import("./change.ts")).removeServerCommand,
  },
  {
    name: "auth",
    summary: "log in to a server",
    arguments: [SERVER],
    options: [
      { flags: "--timeout <seconds>", summary: "how long to wait for the login (default: 300)" },
      { flags: "--force", summary: "log in again even if a login exists" },
      JSON_OPTION,
    ],
    notes:
      "Prints the URL of the login page and waits for its redirect to a port of this machine. Rookery stores the tokens\n" +
      "encrypted, readable only by you; all sessions use them. If your browser runs on another machine, set\n" +
      "oauth.callback_port of the server and forward that port: ssh -L PORT:127.0.0.1:PORT.",
    examples: ["rookery mcp auth github"],
    load: async () => (await import("./auth.ts")).logInCommand,
  },
  {
    name: "logout",
    summary: "revoke and delete the tokens of a server",
    arguments: [SERVER],
    options: [JSON_OPTION],
    examples: ["rookery mcp logout github"],
    load: async () => (await import("./logout.ts")).logOutCommand,
  },
  {
    name: "call",
    summary: "call a tool of a server without an agent",
    arguments: [
      SERVER,
      { name: "tool", summary: "the name of the tool, or server__tool" },
      { name: "json", summary: "the input of the tool; `-` reads it from stdin (default: {})", optional: true },
    ],
    options: [
      { flags: "--output <dir>", summary: "write returned images and files to this directory" },
      { flags: "--json", summary: "print the whole result as one line of JSON" },
    ],
    notes:
      "You call the tool yourself, so no permission is requested. Questions of the server appear on the terminal and are\n" +
      "declined without one; its requests for a model are declined. The exit code is 1 if the tool fails; Ctrl-C cancels\n" +
      "the call (130).",
    examples: [
      `rookery mcp call files read '{"path":"README.md"}'`,
      "jq -n '{a: 1}' | rookery mcp call maths add - --json",
    ],
    load: async () => (await import("./call.ts")).callToolCommand,
  },
  {
    name: "serve",
    summary: "run as an MCP server on stdio that offers the tools of an agent",
    options: [
      { flags: "--tasks", summary: "offer tools that start, follow and merge tasks instead" },
      { flags: "--allow-answers", summary: "with --tasks: let the model answer permission requests of tasks" },
      { flags: "--agent <name>", summary: "the agent that has the tools (default: the configured one)" },
      { flags: "--cwd <dir>", summary: "the working directory" },
      ADD_DIR_OPTION,
      PERMISSIONS_OPTION,
    ],
    notes:
      "The log of a session records the calls. A call that needs a permission waits for `rookery answer`. stdout carries\n" +
      "only the protocol. With --tasks, the command also runs queued tasks until its input ends; those that still run are\n" +
      "queued again.",
    examples: [
      "rookery mcp serve",
      "rookery mcp serve --agent reviewer --permissions read",
      "rookery mcp serve --tasks",
    ],
    load: async () => (await import("./serve.ts")).serveMcpCommand,
  },
];
