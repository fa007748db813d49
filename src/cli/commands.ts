/** The table of commands. */
import { SESSION_STATUSES } from "../domain/enums.ts";
import { ADD_DIR_OPTION, JSON_OPTION, PERMISSIONS_OPTION } from "./command-options.ts";
import type { CommandSpec, OptionSpec } from "./command.ts";
import { taskCommands } from "./task/commands.ts";

const TRACE_OPTION: OptionSpec = {
  flags: "--trace <file>",
  summary: "write every message down, for `rookery acp trace`",
};
const SESSION = { name: "session", summary: "a session's id, its beginning, or `last`" };
const SESSION_OR_TASK = {
  name: "session",
  summary: "a session's or a task's id, its beginning, or `last` for the newest session",
};

const sessionCommands: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "list sessions, newest first",
    options: [
      { flags: "--agent <name>", summary: "only of this agent" },
      { flags: "--cwd <dir>", summary: "only in this folder" },
      {
        flags: "--status <status>",
        summary: "only in one state",
        choices: SESSION_STATUSES.filter((status) => status !== "copying"),
      },
      { flags: "--limit <count>", summary: "at most this many (default: 20)" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions", "rookery sessions list --status waiting --json"],
    load: async () => (await import("./sessions/list.ts")).listSessionsCommand,
  },
  {
    name: "show",
    summary: "show a session's state, and what it waits for",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions show last"],
    load: async () => (await import("./sessions/show.ts")).showSessionCommand,
  },
  {
    name: "events",
    summary: "print a session's log",
    arguments: [SESSION],
    options: [
      { flags: "--after <seq>", summary: "only events after this one" },
      { flags: "--limit <count>", summary: "at most this many" },
      { flags: "--follow", summary: "wait for more, until Ctrl-C" },
      { flags: "--all", summary: "also the agent's own raw events" },
      JSON_OPTION,
    ],
    examples: ["rookery sessions events last", "rookery sessions events last --follow --json"],
    load: async () => (await import("./sessions/events.ts")).sessionEventsCommand,
  },
  {
    name: "close",
    summary: "end a session; its log stays",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions close last"],
    load: async () => (await import("./sessions/close.ts")).closeSessionCommand,
  },
  {
    name: "fork",
    summary: "begin a new session with what another one holds; that one stays as it is",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions fork last"],
    load: async () => (await import("./sessions/fork.ts")).forkSessionCommand,
  },
  {
    name: "delete",
    summary: "remove a session and its log for good",
    arguments: [SESSION],
    options: [JSON_OPTION],
    examples: ["rookery sessions delete last"],
    load: async () => (await import("./sessions/delete.ts")).deleteSessionCommand,
  },
];

const acpCommands: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "be an ACP agent on stdio, for an editor to start",
    options: [
      { flags: "--agent <name>", summary: "the agent of new sessions (default: the configured one)" },
      TRACE_OPTION,
    ],
    notes:
      "The sessions of the editor are sessions of the log: `rookery sessions` shows them, and `rookery answer` answers\n" +
      "what they wait for. stdout carries the protocol and nothing else.",
    examples: ["rookery acp", "rookery acp --agent reviewer"],
    load: async () => (await import("./acp/serve.ts")).serveAcpCommand,
  },
  {
    name: "proxy",
    summary: "stand between an editor and an agent, and give its sessions MCP servers",
    arguments: [
      { name: "command", summary: "what starts the agent; without it, a conductor does", optional: true, rest: true },
    ],
    options: [
      { flags: "--mcp <file>", summary: "a .mcp.json whose servers every session gets", repeatable: true },
      TRACE_OPTION,
    ],
    examples: ["rookery acp proxy --mcp .mcp.json -- gemini --acp"],
    load: async () => (await import("./acp/proxy.ts")).proxyCommand,
  },
  {
    name: "conductor",
    summary: "run a chain of proxies in front of an agent, as one agent",
    arguments: [
      {
        name: "command",
        summary: "what starts the agent; without it, the chain is a proxy itself",
        optional: true,
        rest: true,
      },
    ],
    options: [
      {
        flags: "--proxy <command>",
        summary: "a proxy, from the editor's end on, as one quoted text",
        repeatable: true,
      },
      TRACE_OPTION,
    ],
    examples: ['rookery acp conductor --proxy "rookery acp proxy --mcp .mcp.json" -- opencode acp'],
    load: async () => (await import("./acp/conductor.ts")).conductorCommand,
  },
  {
    name: "check",
    summary: "check whether an agent keeps to the protocol",
    arguments: [{ name: "command", summary: "what starts the agent", rest: true }],
    options: [
      { flags: "--only <ids>", summary: "only these checks, such as 1,5,9" },
      { flags: "--timeout <seconds>", summary: "for each answer (default: 30)" },
      { flags: "--prompt <text>", summary: "a prompt that ends soon" },
      { flags: "--slow-prompt <text>", summary: "a prompt that runs long enough to be cancelled" },
      { flags: "--authenticate <method>", summary: "the authentication method to use first" },
      JSON_OPTION,
    ],
    notes:
      "The agent is really prompted, in this folder. Exit code 1 where a mandatory check fails, or one of what the agent\n" +
      "says it can.",
    examples: ["rookery acp check -- rookery acp", "rookery acp check --json -- gemini --acp"],
    load: async () => (await import("./acp/check.ts")).checkCommand,
  },
  {
    name: "trace",
    summary: "show a connection that was written down with --trace",
    arguments: [{ name: "file", summary: "the file, or `-` for a pipe" }],
    examples: ["rookery acp trace acp.ndjson"],
    load: async () => (await import("./acp/trace.ts")).traceCommand,
  },
  {
    name: "registry",
    summary: "list known agents, or print the command that starts one",
    arguments: [{ name: "id", summary: "an agent of the registry", optional: true }],
    options: [{ flags: "--file <file>", summary: "a registry's index (default: the built-in one)" }, JSON_OPTION],
    examples: ["rookery acp registry", "rookery acp registry gemini"],
    load: async () => (await import("./acp/registry.ts")).registryCommand,
  },
  {
    name: "mcp-bridge",
    summary: "pass MCP from stdio to a server of the proxy that started it",
    hidden: true,
    examples: ["rookery acp mcp-bridge"],
    load: async () => (await import("./acp/mcp-bridge.ts")).mcpBridgeCommand,
  },
];

const SERVER = { name: "name", summary: "a server of `rookery mcp list`" };

const mcpCommands: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "list the MCP servers that are declared here, how they are, and what to do about it",
    options: [
      { flags: "--agent <name>", summary: "only what this agent gets" },
      { flags: "--timeout <seconds>", summary: "how long to wait for those that connect (default: 15)" },
      { flags: "--offline", summary: "connect to none" },
      JSON_OPTION,
    ],
    notes:
      "Servers are declared as [mcp.NAME] in the rookery.toml of the repository or of the user, and in .mcp.json.\n" +
      "Each is really started or reached, and ended again.",
    examples: ["rookery mcp", "rookery mcp list --agent reviewer --json"],
    load: async () => (await import("./mcp/list.ts")).listServersCommand,
  },
  {
    name: "auth",
    summary: "log in to a server",
    arguments: [SERVER],
    options: [
      { flags: "--timeout <seconds>", summary: "how long to wait for you (default: 300)" },
      { flags: "--force", summary: "also where a login is there already" },
      JSON_OPTION,
    ],
    notes:
      "Prints the page to open and waits until it sends you back to a port of this machine. The tokens are kept\n" +
      "encrypted, for you alone, and all sessions use them. Where the browser is on another machine, set\n" +
      "oauth.callback_port of the server, and forward that port to here: ssh -L PORT:127.0.0.1:PORT.",
    examples: ["rookery mcp auth github"],
    load: async () => (await import("./mcp/auth.ts")).logInCommand,
  },
  {
    name: "logout",
    summary: "give a server's tokens back, and forget them",
    arguments: [SERVER],
    options: [JSON_OPTION],
    examples: ["rookery mcp logout github"],
    load: async () => (await import("./mcp/logout.ts")).logOutCommand,
  },
  {
    name: "call",
    summary: "call a tool of a server, without an agent",
    arguments: [
      SERVER,
      { name: "tool", summary: "as the server calls it, or as server__tool" },
      { name: "json", summary: "its input; `-` reads it from a pipe (default: {})", optional: true },
    ],
    options: [
      { flags: "--output <dir>", summary: "write images and files that it returns there" },
      { flags: "--json", summary: "print the whole result as one line of JSON" },
    ],
    notes:
      "You are the one who calls it, so nobody is asked for permission. What the server asks is asked on the terminal,\n" +
      "and declined where there is none; there is no model to ask here. Exit code 1 where the tool failed; Ctrl-C\n" +
      "cancels the call (130).",
    examples: [
      `rookery mcp call files read '{"path":"README.md"}'`,
      "jq -n '{a: 1}' | rookery mcp call maths add - --json",
    ],
    load: async () => (await import("./mcp/call.ts")).callToolCommand,
  },
  {
    name: "serve",
    summary: "be an MCP server on stdio that offers an agent's tools, for a program to start",
    options: [
      { flags: "--agent <name>", summary: "whose tools (default: the configured one)" },
      { flags: "--cwd <dir>", summary: "the folder to work in" },
      ADD_DIR_OPTION,
      PERMISSIONS_OPTION,
    ],
    notes:
      "The calls are in the log of a session, and what needs a permission waits for `rookery answer`. stdout carries\n" +
      "the protocol and nothing else.",
    examples: ["rookery mcp serve", "rookery mcp serve --agent reviewer --permissions read"],
    load: async () => (await import("./mcp/serve.ts")).serveMcpCommand,
  },
];

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "run",
    summary: "give an agent a prompt and watch it work",
    arguments: [{ name: "prompt", summary: "what to do; `-` or nothing reads it from a pipe", optional: true }],
    options: [
      { flags: "--agent <name>", summary: "an agent of `rookery agents`" },
      { flags: "--model <model>", summary: "another model: provider/model, or for a program one that it knows" },
      { flags: "--cwd <dir>", summary: "the folder to work in" },
      ADD_DIR_OPTION,
      { flags: "--session <id>", summary: "go on with a session: its id, its beginning, or `last`" },
      {
        flags: "--budget <amounts>",
        summary: "what the session may use before you are asked for more, such as 5usd,200000tokens,100steps,30m",
      },
      PERMISSIONS_OPTION,
      { flags: "--json", summary: "print each event of the log as one line of JSON, and nothing else" },
    ],
    examples: [
      'rookery run "Fix the failing test"',
      "git diff | rookery run -",
      'rookery run "And now the docs" --session last',
      "rookery run --session last                      go on with a turn that a killed process left",
      'rookery run "Update the changelog" --permissions all --json',
    ],
    notes:
      "On a terminal you are asked for each permission, and for what MCP servers want to know. Elsewhere nobody can be\n" +
      "asked: without --permissions, what needs a decision is refused and the exit code is 3; with --permissions ask it\n" +
      "waits for `rookery answer`. /SERVER:PROMPT with its arguments is a prompt of an MCP server.\n" +
      "Ctrl-C cancels the turn, twice quits at once; SIGTERM, SIGHUP and a closed pipe cancel it too (130).\n" +
      "With --session, a prompt is read from a pipe only where it is `-`.",
    load: async () => (await import("./run/run.ts")).runCommand,
  },
  {
    name: "task",
    summary: "tasks side by side, each in a git worktree of its own: start, watch, stop, merge",
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
    summary: "run tasks, and serve everything over HTTP, until Ctrl-C",
    options: [
      { flags: "--host <name>", summary: "the address to listen on (default: 127.0.0.1)" },
      { flags: "--port <number>", summary: "the port (default: 7433; 0 takes a free one)" },
      { flags: "--token <token>", summary: "instead of the one that is made at the first start" },
      { flags: "--allow-host <name>", summary: "a name that clients may call it by", repeatable: true },
      { flags: "--show-token", summary: "print the token, on a terminal" },
      { flags: "--json", summary: "print where it is as JSON, and a line of JSON on stderr for each request" },
    ],
    notes:
      "Tasks that a killed server left go on. Every request but /v1/health needs the token. Ctrl-C and SIGTERM let\n" +
      "running requests end and leave tasks as they are, for the next start; a second one quits at once.",
    examples: [
      "rookery serve",
      "rookery serve --port 8000 --json",
      "rookery serve --host 0.0.0.0 --allow-host build.lan",
    ],
    load: async () => (await import("./serve/serve.ts")).serveCommand,
  },
  {
    name: "sessions",
    summary: "list, show and close sessions, and print their logs",
    commands: sessionCommands,
    defaultCommand: "list",
    examples: ["rookery sessions", "rookery sessions show last", "rookery sessions events last --follow"],
  },
  {
    name: "usage",
    summary: "tokens and cost of all sessions, by agent and model",
    options: [
      { flags: "--agent <name>", summary: "only of this agent" },
      { flags: "--since <when>", summary: "only from then on: 12h, 7d, 4w, or a date such as 2026-01-31" },
      JSON_OPTION,
    ],
    notes:
      "A cost is what the agent's program says it was, or `computed` from the prices of the configuration; it is\n" +
      "`unknown` as soon as a part of it has neither.",
    examples: ["rookery usage", "rookery usage --since 7d --json"],
    load: async () => (await import("./usage/usage.ts")).usageCommand,
  },
  {
    name: "acp",
    summary: "speak the Agent Client Protocol: be an agent for an editor, and tools around it",
    commands: acpCommands,
    defaultCommand: "serve",
    examples: ["rookery acp", "rookery acp check -- rookery acp", "rookery acp proxy --mcp .mcp.json -- gemini --acp"],
  },
  {
    name: "mcp",
    summary: "list MCP servers, log in to them, call their tools, and be one",
    commands: mcpCommands,
    defaultCommand: "list",
    examples: ["rookery mcp", "rookery mcp auth github", `rookery mcp call files read '{"path":"README.md"}'`],
  },
  {
    name: "tell",
    summary: "say something to an agent while it works, from any terminal",
    arguments: [SESSION_OR_TASK, { name: "text", summary: "what the agent should know or do" }],
    options: [{ flags: "--follow-up", summary: "when its turn has ended, and not at its next step" }, JSON_OPTION],
    notes:
      "The built-in agent hears it at its next step. An agent that is a program, or has ended its turn meanwhile, hears it\n" +
      "as a turn of its own.",
    examples: [
      'rookery tell last "leave the tests as they are"',
      'rookery tell fix-login "keep the old route, too"',
      'rookery tell last --follow-up "then run the linter"',
    ],
    load: async () => (await import("./tell.ts")).tellCommand,
  },
  {
    name: "answer",
    summary: "answer what a session or a task waits for, from any terminal",
    arguments: [
      SESSION_OR_TASK,
      { name: "request", summary: "the request's id, as `rookery sessions show` and `rookery task show` print it" },
      {
        name: "answer",
        summary: "the first three to a permission (always: in this session), the others to a question",
        choices: ["allow", "always", "deny", "accept", "decline", "cancel"],
      },
    ],
    options: [
      { flags: "--message <text>", summary: "a reason that the agent is told, with deny" },
      { flags: "--content <json>", summary: "the answer to a question, with accept" },
      JSON_OPTION,
    ],
    examples: [
      "rookery answer last REQUEST allow",
      'rookery answer last REQUEST deny --message "not on main"',
      `rookery answer last REQUEST accept --content '{"name":"Ada"}'`,
    ],
    load: async () => (await import("./answer.ts")).answerCommand,
  },
  {
    name: "agents",
    summary: "what can be driven here, and what is missing for the rest",
    options: [JSON_OPTION],
    examples: ["rookery agents"],
    load: async () => (await import("./agents.ts")).agentsCommand,
  },
  {
    name: "trust",
    summary: "trust what a repository brings (rookery.toml, .mcp.json, prompts), as it is now",
    arguments: [{ name: "dir", summary: "any folder of the repository (default: this one)", optional: true }],
    options: [JSON_OPTION],
    examples: ["rookery trust", "rookery trust ~/src/project"],
    load: async () => (await import("./trust.ts")).trustCommand,
  },
  {
    name: "doctor",
    summary: "check that everything Rookery needs is there and that its log is not damaged",
    options: [
      { flags: "--repair", summary: "save what can be read of a damaged log into a new file; the old one is kept" },
      JSON_OPTION,
    ],
    examples: ["rookery doctor", "rookery doctor --repair"],
    load: async () => (await import("./doctor/doctor.ts")).doctorCommand,
  },
  {
    name: "demo",
    summary: "see a whole turn without a key: the model is scripted, everything else is real",
    options: [{ flags: "--keep", summary: "keep the throw-away repository" }, JSON_OPTION],
    examples: ["rookery demo"],
    load: async () => (await import("./demo/demo.ts")).demoCommand,
  },
  {
    name: "completion",
    summary: "print a script that completes commands in your shell",
    arguments: [{ name: "shell", summary: "one of", choices: ["bash", "zsh", "fish"] }],
    examples: [
      "rookery completion bash > ~/.local/share/bash-completion/completions/rookery",
      'rookery completion zsh > "${fpath[1]}/_rookery"',
      "rookery completion fish > ~/.config/fish/completions/rookery.fish",
    ],
    load: async () => (await import("./completion/completion.ts")).completionCommand,
  },
];

/** The program itself, as the command that the others are in. */
export const PROGRAM: CommandSpec = {
  name: "rookery",
  summary: "one durable runtime for every coding agent",
  commands: COMMANDS,
  notes:
    "Exit codes: 0 done, 1 failed, 2 wrong usage, input or configuration, 3 needs a decision nobody could take,\n" +
    "130 cancelled. ROOKERY_DEBUG=1 shows where an error came from.",
  examples: [
    "rookery demo",
    'rookery run "Fix the failing test"',
    'rookery task start "Add pagination"',
    "rookery sessions show last",
  ],
};
