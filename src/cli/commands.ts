/** The command table. */
import { ADD_DIR_OPTION, JSON_OPTION, PERMISSIONS_OPTION } from "./command-options.ts";
import type { CommandName } from "./command-names.ts";
import type { CommandSpec, OptionSpec } from "./command.ts";
import { SHOWN_SESSION_STATUSES } from "./sessions/shown-status.ts";
import { taskCommands } from "./task/commands.ts";

const TRACE_OPTION: OptionSpec = {
  flags: "--trace <file>",
  summary: "record every message in a file, for `rookery acp trace`",
};
const SESSION = {
  name: "session",
  summary: "the start of a session id, or `last` for your newest session in this repository",
};
const SESSION_OR_TASK = {
  name: "session",
  summary: "the start of a session or task id, or `last` for your newest session in this repository",
};

const sessionCommands: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "list sessions, newest first",
    options: [
      { flags: "--agent <name>", summary: "only of this agent" },
      { flags: "--cwd <dir>", summary: "only in this directory" },
      {
        flags: "--status <status>",
        summary: "only with this status",
        choices: SHOWN_SESSION_STATUSES,
      },
      { flags: "--limit <count>", summary: "at most this many (default: 20)" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions", "rookery sessions list --status waiting --json"],
    load: async () => (await import("./sessions/list.ts")).listSessionsCommand,
  },
  {
    name: "show",
    summary: "show the state of a session, what was said and done in it, and its open requests",
    arguments: [SESSION],
    options: [
      { flags: "--last <turns>", summary: "show this many turns (default: 5)" },
      { flags: "--all", summary: "show all turns; with --events, include the raw events of the agent" },
      { flags: "--events", summary: "print the log instead, one line per event" },
      { flags: "--json", summary: "print the state as JSON; with --events, the events" },
    ],
    examples: ["rookery sessions show last", "rookery sessions show last --all"],
    load: async () => (await import("./sessions/show.ts")).showSessionCommand,
  },
  {
    name: "events",
    summary: "print the log of a session",
    arguments: [SESSION],
    options: [
      { flags: "--after <seq>", summary: "only events after this one" },
      { flags: "--limit <count>", summary: "at most this many" },
      { flags: "--follow", summary: "wait for new events, until Ctrl-C" },
      { flags: "--all", summary: "include the raw events of the agent" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions events last", "rookery sessions events last --follow --json"],
    load: async () => (await import("./sessions/events.ts")).sessionEventsCommand,
  },
  {
    name: "close",
    summary: "close a session; its log is kept",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions close last"],
    load: async () => (await import("./sessions/close.ts")).closeSessionCommand,
  },
  {
    name: "fork",
    summary: "copy a session into a new one; the original does not change",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions fork last"],
    load: async () => (await import("./sessions/fork.ts")).forkSessionCommand,
  },
  {
    name: "delete",
    summary: "delete a session and its log",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions delete last"],
    load: async () => (await import("./sessions/delete.ts")).deleteSessionCommand,
  },
];

const acpCommands: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "run as an ACP agent on stdio; an editor starts it",
    options: [
      { flags: "--agent <name>", summary: "the agent of new sessions (default: the configured one)" },
      TRACE_OPTION,
    ],
    notes:
      "Sessions of the editor are in the log like all others: `rookery sessions` lists them, and `rookery answer` answers\n" +
      "their requests. stdout carries only the protocol.",
    examples: ["rookery acp", "rookery acp --agent reviewer"],
    load: async () => (await import("./acp/serve.ts")).serveAcpCommand,
  },
  {
    name: "proxy",
    summary: "run as a proxy between an editor and an agent that adds MCP servers to every session",
    arguments: [
      {
        name: "command",
        summary: "the command that starts the agent; omit it if a conductor starts the agent",
        optional: true,
        rest: true,
      },
    ],
    options: [
      { flags: "--mcp <file>", summary: "a .mcp.json file with servers to add to every session", repeatable: true },
      TRACE_OPTION,
    ],
    examples: ["rookery acp proxy --mcp .mcp.json -- gemini --acp"],
    load: async () => (await import("./acp/proxy.ts")).proxyCommand,
  },
  {
    name: "conductor",
    summary: "run a chain of proxies and an agent as one agent",
    arguments: [
      {
        name: "command",
        summary: "the command that starts the agent; without it, the chain is itself a proxy",
        optional: true,
        rest: true,
      },
    ],
    options: [
      {
        flags: "--proxy <command>",
        summary: "the quoted command of a proxy; the first one is next to the editor",
        repeatable: true,
      },
      TRACE_OPTION,
    ],
    examples: ['rookery acp conductor --proxy "rookery acp proxy --mcp .mcp.json" -- opencode acp'],
    load: async () => (await import("./acp/conductor.ts")).conductorCommand,
  },
  {
    name: "check",
    summary: "check whether an agent conforms to the protocol",
    arguments: [{ name: "command", summary: "the command that starts the agent", rest: true }],
    options: [
      { flags: "--only <ids>", summary: "only these checks, for example 1,5,9" },
      { flags: "--timeout <seconds>", summary: "timeout of each request (default: 30)" },
      { flags: "--prompt <text>", summary: "a prompt with a short turn" },
      { flags: "--slow-prompt <text>", summary: "a prompt with a turn long enough to cancel" },
      { flags: "--authenticate <method>", summary: "the authentication method to use first" },
      JSON_OPTION,
    ],
    notes:
      "Sends real prompts to the agent, in the current directory. The exit code is 1 if a mandatory check fails, or a check\n" +
      "of a capability that the agent advertises.",
    examples: ["rookery acp check -- rookery acp", "rookery acp check --json -- gemini --acp"],
    load: async () => (await import("./acp/check.ts")).checkCommand,
  },
  {
    name: "trace",
    summary: "print a connection that was recorded with --trace",
    arguments: [{ name: "file", summary: "the file, or `-` for stdin" }],
    examples: ["rookery acp trace acp.ndjson"],
    load: async () => (await import("./acp/trace.ts")).traceCommand,
  },
  {
    name: "registry",
    summary: "list known agents, or print the command that starts one",
    arguments: [{ name: "id", summary: "the id of an agent in the registry", optional: true }],
    options: [{ flags: "--file <file>", summary: "a registry index (default: the built-in one)" }, JSON_OPTION],
    examples: ["rookery acp registry", "rookery acp registry gemini"],
    load: async () => (await import("./acp/registry.ts")).registryCommand,
  },
  {
    name: "mcp-bridge",
    summary: "connect MCP on stdio to a server of the proxy that started this process",
    hidden: true,
    examples: ["rookery acp mcp-bridge"],
    load: async () => (await import("./acp/mcp-bridge.ts")).mcpBridgeCommand,
  },
];

const REPOSITORY_OPTION: OptionSpec = {
  flags: "--repository",
  summary: "change the rookery.toml of the repository instead of yours",
};
const KEY = { name: "key", summary: "a key of rookery.toml, such as defaults.agent" };

const configCommands: readonly CommandSpec[] = [
  {
    name: "path",
    summary: "print the paths of the configuration files",
    options: [JSON_OPTION],
    examples: ["rookery config", "rookery config path --json"],
    load: async () => (await import("./config/config.ts")).configPathCommand,
  },
  {
    name: "get",
    summary: "print a value: the repository's, or else yours",
    arguments: [KEY],
    options: [JSON_OPTION],
    examples: ["rookery config get defaults.agent"],
    load: async () => (await import("./config/config.ts")).getConfigCommand,
  },
  {
    name: "set",
    summary: "change a value and keep comments and formatting; an invalid value is refused",
    arguments: [KEY, { name: "value", summary: "a TOML value, or plain text" }],
    options: [REPOSITORY_OPTION, JSON_OPTION],
    examples: ["rookery config set defaults.agent claude", 'rookery config set merge.gate "npm test" --repository'],
    load: async () => (await import("./config/config.ts")).setConfigCommand,
  },
  {
    name: "edit",
    summary: "open the file in your editor, and check it afterwards",
    options: [REPOSITORY_OPTION],
    notes: "Uses VISUAL or EDITOR.",
    examples: ["rookery config edit", "rookery config edit --repository"],
    load: async () => (await import("./config/config.ts")).editConfigCommand,
  },
];

const SERVER = { name: "name", summary: "a server from `rookery mcp list`" };

const mcpCommands: readonly CommandSpec[] = [
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
    load: async () => (await import("./mcp/list.ts")).listServersCommand,
  },
  {
    name: "tools",
    summary: "list the tools of a server",
    arguments: [SERVER],
    options: [JSON_OPTION],
    examples: ["rookery mcp tools files"],
    load: async () => (await import("./mcp/tools.ts")).listToolsCommand,
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
    load: async () => (await import("./mcp/change.ts")).addServerCommand,
  },
  {
    name: "remove",
    summary: "remove a server from your configuration",
    arguments: [SERVER],
    options: [REPOSITORY_OPTION, JSON_OPTION],
    examples: ["rookery mcp remove files"],
    load: async () => (await import("./mcp/change.ts")).removeServerCommand,
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
    load: async () => (await import("./mcp/auth.ts")).logInCommand,
  },
  {
    name: "logout",
    summary: "revoke and delete the tokens of a server",
    arguments: [SERVER],
    options: [JSON_OPTION],
    examples: ["rookery mcp logout github"],
    load: async () => (await import("./mcp/logout.ts")).logOutCommand,
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
    load: async () => (await import("./mcp/call.ts")).callToolCommand,
  },
  {
    name: "serve",
    summary: "run as an MCP server on stdio that offers the tools of an agent",
    options: [
      { flags: "--agent <name>", summary: "the agent that has the tools (default: the configured one)" },
      { flags: "--cwd <dir>", summary: "the working directory" },
      ADD_DIR_OPTION,
      PERMISSIONS_OPTION,
    ],
    notes:
      "The log of a session records the calls. A call that needs a permission waits for `rookery answer`. stdout carries\n" +
      "only the protocol.",
    examples: ["rookery mcp serve", "rookery mcp serve --agent reviewer --permissions read"],
    load: async () => (await import("./mcp/serve.ts")).serveMcpCommand,
  },
];

export const COMMANDS: readonly (CommandSpec & { readonly name: CommandName })[] = [
  {
    name: "chat",
    summary: "talk with an agent on this terminal; `rookery` alone does the same",
    arguments: [{ name: "session", summary: "a session to continue: its id or a prefix of it", optional: true }],
    options: [
      { flags: "--continue", short: "-c", summary: "continue the newest conversation of this directory" },
      { flags: "--resume", short: "-r", summary: "choose a conversation of this directory" },
      { flags: "--agent <name>", short: "-a", summary: "an agent from `rookery agents`" },
      {
        flags: "--model <model>",
        short: "-m",
        summary: "the model: provider/model, or a model name of the agent's program",
      },
      PERMISSIONS_OPTION,
      { flags: "--plain", summary: "print plain lines and redraw nothing, for screen readers" },
    ],
    examples: ["rookery", "rookery -c", "rookery chat --agent claude", "rookery chat --resume"],
    notes:
      "Type /help for the commands and keys. With TERM=dumb or NO_COLOR, the chat prints plain lines. Without a terminal,\n" +
      "`rookery` alone shows the setup and what to type next.",
    load: async () => (await import("./chat/chat.ts")).chatCommand,
  },
  {
    name: "run",
    summary: "send a prompt to an agent and show what it does",
    arguments: [{ name: "prompt", summary: "what to do; `-` or nothing reads it from stdin", optional: true }],
    options: [
      { flags: "--agent <name>", summary: "an agent from `rookery agents`" },
      { flags: "--model <model>", summary: "the model: provider/model, or a model name of the agent's program" },
      { flags: "--cwd <dir>", summary: "the working directory" },
      ADD_DIR_OPTION,
      { flags: "--continue", short: "-c", summary: "continue your newest session here: the same as --session last" },
      {
        flags: "--session <id>",
        summary: "continue a session: the start of its id, or `last` for your newest one in this repository",
      },
      {
        flags: "--budget <amounts>",
        summary: "what the session may use before it asks you for more, for example 5usd,200000tokens,100steps,30m",
      },
      PERMISSIONS_OPTION,
      { flags: "--json", summary: "print only the events of the log, one JSON object per line" },
    ],
    examples: [
      'rookery run "Fix the failing test"',
      "git diff | rookery run -",
      'rookery run "And now the docs" --session last',
      "rookery run --session last",
      'rookery run "Update the changelog" --permissions all --json',
    ],
    notes:
      "On a terminal, Rookery asks you for each permission and shows the questions of MCP servers. Without a terminal\n" +
      "it denies requests and the exit code is 3, unless --permissions decides them; with --permissions ask, requests\n" +
      "wait for `rookery answer`. /SERVER:PROMPT ARGUMENTS uses a prompt of an MCP server.\n" +
      "Ctrl-C cancels the turn, a second Ctrl-C quits immediately; SIGTERM, SIGHUP and a closed pipe also cancel (130).\n" +
      "With --session, the prompt is read from stdin only if it is `-`; without a prompt, the command continues a turn\n" +
      "that a killed process left.",
    load: async () => (await import("./run/run.ts")).runPromptCommand,
  },
  {
    name: "task",
    summary: "run tasks in parallel, each in its own git worktree: start, watch, stop, merge",
    commands: taskCommands,
    defaultCommand: "list",
    examples: [
      'rookery task start "Add pagination"',
      "rookery task",
      "rookery task logs last -f",
      "rookery task merge last",
    ],
  },
  {
    name: "serve",
    summary: "run tasks and serve the HTTP API until Ctrl-C",
    options: [
      { flags: "--host <name>", summary: "the address to listen on (default: 127.0.0.1)" },
      { flags: "--port <number>", summary: "the port (default: 7433; 0 for any free port)" },
      { flags: "--token <token>", summary: "the token to require (default: one generated at the first start)" },
      { flags: "--allow-host <name>", summary: "a host name that clients may use in requests", repeatable: true },
      { flags: "--show-token", summary: "print the token, on a terminal" },
      { flags: "--json", summary: "print the address as JSON, and one line of JSON on stderr for each request" },
    ],
    notes:
      "Continues tasks of a killed server. Every request except /v1/health needs the token. Ctrl-C and SIGTERM finish\n" +
      "running requests and leave tasks for the next start; a second one quits immediately.",
    examples: [
      "rookery serve",
      "rookery serve --port 8000 --json",
      "rookery serve --host 0.0.0.0 --allow-host build.lan",
    ],
    load: async () => (await import("./serve/serve.ts")).serveCommand,
  },
  {
    name: "sessions",
    summary: "list, show, fork, close and delete sessions, and print their logs",
    commands: sessionCommands,
    defaultCommand: "list",
    examples: ["rookery sessions", "rookery sessions show last", "rookery sessions events last --follow"],
  },
  {
    name: "usage",
    summary: "show tokens and cost of all sessions by agent and model",
    options: [
      { flags: "--agent <name>", summary: "only of this agent" },
      { flags: "--since <when>", summary: "only since then: 12h, 7d, 4w, or a date such as 2026-01-31" },
      JSON_OPTION,
    ],
    notes:
      "The agent's program reports a cost, or Rookery computes it from the configured prices (`computed`). If neither\n" +
      "exists for a part of it, the known part is totaled, and the tokens without a cost are listed.",
    examples: ["rookery usage", "rookery usage --since 7d --json"],
    load: async () => (await import("./usage/usage.ts")).usageCommand,
  },
  {
    name: "acp",
    summary: "run as an Agent Client Protocol agent for editors; protocol tools",
    commands: acpCommands,
    defaultCommand: "serve",
    examples: ["rookery acp", "rookery acp check -- rookery acp", "rookery acp proxy --mcp .mcp.json -- gemini --acp"],
  },
  {
    name: "mcp",
    summary: "list MCP servers, log in to them, call their tools, and run as one",
    commands: mcpCommands,
    defaultCommand: "list",
    examples: ["rookery mcp", "rookery mcp auth github", `rookery mcp call files read '{"path":"README.md"}'`],
  },
  {
    name: "tell",
    summary: "send a message to an agent while it works, from any terminal",
    arguments: [SESSION_OR_TASK, { name: "text", summary: "what the agent should know or do" }],
    options: [
      { flags: "--follow-up", summary: "deliver it after the current turn instead of at the next step" },
      JSON_OPTION,
    ],
    notes:
      "The built-in agent gets the message at its next step. Other agents, and agents whose turn has ended, get it as a\n" +
      "new turn.",
    examples: [
      'rookery tell last "do not change the tests"',
      'rookery tell fix-login "keep the old route"',
      'rookery tell last --follow-up "then run the linter"',
    ],
    load: async () => (await import("./tell.ts")).tellCommand,
  },
  {
    name: "inbox",
    summary: "list everything that waits for an answer, in all sessions and tasks",
    options: [JSON_OPTION],
    examples: ["rookery inbox", "rookery inbox --json"],
    load: async () => (await import("./inbox/inbox.ts")).inboxCommand,
  },
  {
    name: "answer",
    summary: "answer a request of a session or a task, from any terminal",
    arguments: [
      {
        name: "session",
        summary: "a session or task, as for `rookery tell`; omit it if only one request waits (see `rookery inbox`)",
        optional: true,
      },
      {
        name: "request",
        summary: "the request id from `rookery inbox`; omit it if only one waits there",
        optional: true,
      },
      {
        name: "answer",
        summary: "allow, always (in this session) or deny a permission; accept, decline or cancel a question",
        optional: true,
        choices: ["allow", "always", "deny", "accept", "decline", "cancel"],
      },
    ],
    options: [
      { flags: "--message <text>", summary: "with deny: a reason for the agent" },
      { flags: "--content <json>", summary: "with accept: the answer to the question" },
      JSON_OPTION,
    ],
    examples: [
      "rookery answer allow",
      'rookery answer last deny --message "not on main"',
      `rookery answer last REQUEST accept --content '{"name":"Ada"}'`,
    ],
    load: async () => (await import("./answer.ts")).answerCommand,
  },
  {
    name: "agents",
    summary: "list the agents you can use here, and what the others need",
    options: [JSON_OPTION],
    examples: ["rookery agents"],
    load: async () => (await import("./agents.ts")).agentsCommand,
  },
  {
    name: "init",
    summary: "write a commented rookery.toml for this repository",
    options: [{ flags: "--force", summary: "overwrite the file if it exists" }, JSON_OPTION],
    notes:
      "Suggests the first ready agent, and how to set up and check a worktree from the files of the project. Runs nothing.",
    examples: ["rookery init"],
    load: async () => (await import("./init/init.ts")).initCommand,
  },
  {
    name: "config",
    summary: "print and change configuration values",
    commands: configCommands,
    defaultCommand: "path",
    examples: ["rookery config get defaults.agent", "rookery config set defaults.agent claude", "rookery config edit"],
  },
  {
    name: "trust",
    summary: "trust the current configuration of a repository (rookery.toml, .mcp.json, prompts)",
    arguments: [{ name: "dir", summary: "any directory of the repository (default: the current one)", optional: true }],
    options: [JSON_OPTION],
    examples: ["rookery trust", "rookery trust ~/src/project"],
    load: async () => (await import("./trust.ts")).trustCommand,
  },
  {
    name: "doctor",
    summary: "check the installation, the configuration and the log",
    options: [
      { flags: "--repair", summary: "save the readable part of a damaged log to a new file; keeps the old file" },
      JSON_OPTION,
    ],
    examples: ["rookery doctor", "rookery doctor --repair"],
    load: async () => (await import("./doctor/doctor.ts")).doctorCommand,
  },
  {
    name: "demo",
    summary: "run one turn without an API key: the model is scripted, everything else is real",
    options: [{ flags: "--keep", summary: "keep the temporary repository" }, JSON_OPTION],
    examples: ["rookery demo"],
    load: async () => (await import("./demo/demo.ts")).demoCommand,
  },
  {
    name: "completion",
    summary: "print a completion script for your shell",
    arguments: [{ name: "shell", summary: "the shell", choices: ["bash", "zsh", "fish"] }],
    examples: [
      "rookery completion bash > ~/.local/share/bash-completion/completions/rookery",
      'rookery completion zsh > "${fpath[1]}/_rookery"',
      "rookery completion fish > ~/.config/fish/completions/rookery.fish",
    ],
    load: async () => (await import("./completion/completion.ts")).completionCommand,
  },
  {
    name: "complete",
    summary: "print the words that complete a command line, for the completion scripts",
    hidden: true,
    arguments: [
      { name: "word", summary: "the words after `rookery`; the last one is completed", optional: true, rest: true },
    ],
    examples: ["rookery complete -- task merge --how ''"],
    load: async () => (await import("./completion/complete.ts")).completeWordsCommand,
  },
];

/** The program itself: the parent of all commands. */
export const PROGRAM: CommandSpec = {
  name: "rookery",
  summary: "one durable runtime for every coding agent",
  commands: COMMANDS,
  defaultCommand: "chat",
  notes:
    "Exit codes: 0 success, 1 failure, 2 invalid usage, input or configuration, 3 a decision is needed but nobody could\n" +
    "make it, 130 cancelled. ROOKERY_DEBUG=1 prints stack traces.",
  examples: [
    "rookery demo",
    'rookery run "Fix the failing test"',
    'rookery task start "Add pagination"',
    "rookery sessions show last",
  ],
};
