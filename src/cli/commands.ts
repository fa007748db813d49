/** The command table. Each folder of a command with subcommands has their table. */
import { acpCommands } from "./acp/commands.ts";
import { ADD_DIR_OPTION, JSON_OPTION, PERMISSIONS_OPTION, SERVER_OPTION } from "./command-options.ts";
import type { CommandName } from "./command-names.ts";
import type { CommandSpec } from "./command.ts";
import { configCommands } from "./config/commands.ts";
import { mcpCommands } from "./mcp/commands.ts";
import { sessionCommands } from "./sessions/commands.ts";
import { storeCommands } from "./store/commands.ts";
import { taskCommands } from "./task/commands.ts";
import { workerCommands } from "./worker/commands.ts";

const SESSION_OR_TASK = {
  name: "session",
  summary: "the start of a session or task id, or `last` for your newest session in this repository",
};

export const COMMANDS: readonly (CommandSpec & { readonly name: CommandName })[] = [
  {
    name: "chat",
    group: "Talk",
    summary: "talk with an agent on this terminal",
    arguments: [
      { name: "session", summary: "a session to continue: its id or a prefix of it", optional: true },
      { name: "prompt", summary: "what to send first, several words in quotes", optional: true },
    ],
    options: [
      { flags: "--continue", short: "-c", summary: "continue the newest conversation in this directory" },
      { flags: "--resume", short: "-r", summary: "choose a conversation in this directory to continue" },
      { flags: "--agent <name>", short: "-a", summary: "an agent from `rookery agents`" },
      {
        flags: "--model <model>",
        short: "-m",
        summary: "provider/model, or a model name of the agent's program",
      },
      PERMISSIONS_OPTION,
      { flags: "--plain", summary: "print plain lines and redraw nothing, for screen readers" },
    ],
    examples: [
      "rookery",
      'rookery "Fix the failing test"',
      'rookery -c "And now the docs"',
      "rookery chat --agent claude",
      "rookery chat --resume",
    ],
    notes:
      '`rookery` alone starts a chat too, and `rookery "PROMPT"` starts one with this prompt; without a terminal, `rookery`\n' +
      "shows the setup and what to type next. Type /help for the commands and keys. With TERM=dumb or NO_COLOR, the chat\n" +
      "prints plain lines.",
    load: async () => (await import("./chat/chat.ts")).chatCommand,
  },
  {
    name: "run",
    group: "Talk",
    summary: "send a prompt to an agent and show what it does",
    arguments: [{ name: "prompt", summary: "what to do; `-` or nothing reads it from stdin", optional: true }],
    options: [
      { flags: "--agent <name>", summary: "an agent from `rookery agents`" },
      { flags: "--model <model>", summary: "provider/model, or a model name of the agent's program" },
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
      {
        flags: "--messages <file>",
        summary: "start a new session with the messages of a JSON file, as the HTTP API takes them",
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
    group: "Tasks",
    summary: "run tasks in parallel, each in its own git worktree",
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
    group: "Tasks",
    summary: "run tasks, and serve the page and the HTTP API until Ctrl-C",
    options: [
      { flags: "--host <name>", summary: "the address to listen on (default: 127.0.0.1)" },
      { flags: "--port <number>", summary: "the port (default: 7433; 0 for any free port)" },
      {
        flags: "--token <token>",
        summary: "the token to require (default: ROOKERY_TOKEN, or one generated at the first start)",
      },
      { flags: "--allow-host <name>", summary: "a host name that clients may use in requests", repeatable: true },
      { flags: "--public-url <url>", summary: "the URL of the page behind a proxy, such as https://rookery.example" },
      { flags: "--show-token", summary: "print the token, on a terminal" },
      { flags: "--no-tasks", summary: "only answer requests; workers run the tasks" },
      { flags: "--json", summary: "print the address as JSON, and one line of JSON on stderr for each request" },
    ],
    notes:
      "Continues tasks of a killed server. Prints a link to the page that signs in once, within a minute;\n" +
      "`rookery open` makes another. Every other request needs the token, except /v1/health and /v1/ready.\n" +
      "Ctrl-C and SIGTERM finish running requests and leave tasks for the next start; a second one quits immediately.",
    examples: [
      "rookery serve",
      "rookery serve --port 8000 --json",
      "rookery serve --host 0.0.0.0 --allow-host build.lan",
    ],
    load: async () => (await import("./serve/serve.ts")).serveCommand,
  },
  {
    name: "worker",
    group: "Tasks",
    summary: "run tasks of all hosts that share a database, until Ctrl-C",
    options: [
      { flags: "--max-running <count>", summary: "how many tasks to run at once (default: worker.max_running)" },
      { flags: "--label <label>", summary: "what this machine has that tasks can require", repeatable: true },
      { flags: "--agents <names>", summary: "take only tasks of these agents, separated by commas" },
      { flags: "--metrics-port <port>", summary: "serve metrics for Prometheus on this port of 127.0.0.1" },
      { flags: "--drain-timeout <seconds>", summary: "let running tasks finish this long after a signal (default: 0)" },
      { flags: "--json", summary: "print the worker as JSON, and one line of JSON on stderr for each message" },
    ],
    notes:
      "Takes tasks whose agents are ready here, whose repository is reachable from here and whose labels it has. Continues\n" +
      "tasks of dead workers. Ctrl-C and SIGTERM queue running tasks again, so that another worker continues them; a second\n" +
      "one quits immediately. `rookery workers` lists all workers, and drains and stops them from any host.",
    examples: ["rookery worker", "rookery worker --max-running 8 --label gpu", "rookery worker --agents claude,codex"],
    load: async () => (await import("./worker/worker.ts")).workerCommand,
  },
  {
    name: "workers",
    group: "Tasks",
    summary: "list the workers of all hosts, drain and stop them",
    commands: workerCommands,
    defaultCommand: "list",
    examples: ["rookery workers", "rookery workers drain build-1"],
  },
  {
    name: "open",
    group: "Tasks",
    summary: "open the page of the running server in a browser, signed in",
    options: [JSON_OPTION],
    notes: "Also prints the link, which works once and within a minute. Start the server first: rookery serve.",
    examples: ["rookery open"],
    load: async () => (await import("./serve/open.ts")).openCommand,
  },
  {
    name: "sessions",
    group: "History",
    summary: "list, show, fork, close and delete sessions",
    commands: sessionCommands,
    defaultCommand: "list",
    examples: ["rookery sessions", "rookery sessions show last", "rookery sessions events last --follow"],
  },
  {
    name: "search",
    group: "History",
    summary: "find words in the logs of all sessions",
    arguments: [{ name: "words", summary: "words that must all be in one prompt, message or output; quote several" }],
    options: [{ flags: "--limit <count>", summary: "at most this many (default: 20)" }, JSON_OPTION],
    notes: "Newest sessions first. Each match has the number of its event and says who wrote it.",
    examples: ['rookery search "race drain"', "rookery search NaN --json"],
    load: async () => (await import("./sessions/search.ts")).searchCommand,
  },
  {
    name: "usage",
    group: "History",
    summary: "show tokens and cost of all sessions by agent and model",
    options: [
      { flags: "--agent <name>", summary: "only usage of this agent" },
      { flags: "--since <when>", summary: "only usage since then: 12h, 7d, 4w, or a date such as 2026-01-31" },
      JSON_OPTION,
    ],
    notes:
      "The agent's program reports a cost, or Rookery computes it from the configured prices (`~`). If neither\n" +
      "exists for a part of it, the known part is totaled, and the tokens without a cost are listed.",
    examples: ["rookery usage", "rookery usage --since 7d --json"],
    load: async () => (await import("./usage/usage.ts")).usageCommand,
  },
  {
    name: "acp",
    group: "Connect",
    summary: "run as an agent for editors (ACP); test other agents",
    commands: acpCommands,
    defaultCommand: "serve",
    examples: ["rookery acp", "rookery acp check -- rookery acp", "rookery acp proxy --mcp .mcp.json -- gemini --acp"],
  },
  {
    name: "mcp",
    group: "Connect",
    summary: "list, add, log in to and call MCP servers; run as one",
    commands: mcpCommands,
    defaultCommand: "list",
    examples: ["rookery mcp", "rookery mcp auth github", `rookery mcp call files read '{"path":"README.md"}'`],
  },
  {
    name: "tell",
    group: "Talk",
    summary: "send a message to an agent while it works",
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
    group: "Talk",
    summary: "list everything that is waiting for an answer",
    options: [SERVER_OPTION, JSON_OPTION],
    examples: ["rookery inbox", "rookery inbox --json"],
    load: async () => (await import("./inbox/inbox.ts")).inboxCommand,
  },
  {
    name: "answer",
    group: "Talk",
    summary: "answer a request of a session or a task",
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
        summary:
          "allow, always (in this session) or deny a permission; a choice or a text for a question, or decline or cancel",
        optional: true,
        choices: ["allow", "always", "deny", "accept", "decline", "cancel"],
        acceptsOther: true,
      },
    ],
    options: [
      { flags: "--message <text>", summary: "with deny: a reason for the agent" },
      {
        flags: "--prefix <words>",
        summary: "with always, for a shell command: only commands that start with these words; default: every call",
      },
      { flags: "--content <json>", summary: "with accept: the answer to a question with several fields" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "rookery answer allow",
      'rookery answer always --prefix "npm test"',
      'rookery answer last deny --message "not on main"',
      "rookery answer fix-login 2",
      `rookery answer last REQUEST accept --content '{"name":"Ada"}'`,
    ],
    load: async () => (await import("./answer.ts")).answerCommand,
  },
  {
    name: "agents",
    group: "Set up",
    summary: "list the agents you can use, and what the others need",
    options: [{ flags: "--issues", summary: "list known issues of the programs too" }, JSON_OPTION],
    examples: ["rookery agents"],
    load: async () => (await import("./agents.ts")).agentsCommand,
  },
  {
    name: "init",
    group: "Set up",
    summary: "write a commented rookery.toml for this repository",
    options: [{ flags: "--force", summary: "overwrite the file if it exists" }, JSON_OPTION],
    notes:
      "Suggests the first ready agent, and how to set up and check a worktree from the files of the project. Runs nothing.",
    examples: ["rookery init"],
    load: async () => (await import("./init/init.ts")).initCommand,
  },
  {
    name: "config",
    group: "Set up",
    summary: "print and change configuration values",
    commands: configCommands,
    defaultCommand: "path",
    examples: ["rookery config get defaults.agent", "rookery config set defaults.agent claude", "rookery config edit"],
  },
  {
    name: "trust",
    group: "Set up",
    summary: "trust the files of a repository that run commands or steer agents",
    arguments: [{ name: "dir", summary: "any directory of the repository (default: the current one)", optional: true }],
    options: [JSON_OPTION],
    examples: ["rookery trust", "rookery trust ~/src/project"],
    load: async () => (await import("./trust.ts")).trustCommand,
  },
  {
    name: "doctor",
    group: "Set up",
    summary: "check the installation, the configuration and the log",
    options: [
      { flags: "--repair", summary: "save the readable part of a damaged log to a new file; keeps the old file" },
      JSON_OPTION,
    ],
    examples: ["rookery doctor", "rookery doctor --repair"],
    load: async () => (await import("./doctor/doctor.ts")).doctorCommand,
  },
  {
    name: "migrate",
    group: "Set up",
    summary: "bring the schema of the log up to date",
    options: [JSON_OPTION],
    examples: ["rookery migrate"],
    notes:
      "Only needed for a database that several versions of Rookery share: commands apply migrations that older programs\n" +
      "can work with by themselves. Stop the older processes first.",
    load: async () => (await import("./migrate.ts")).migrateCommand,
  },
  {
    name: "store",
    group: "Set up",
    summary: "copy the log and everything with it to another store",
    commands: storeCommands,
    examples: ["rookery store copy ~/.local/state/rookery postgres://rookery@db.example/rookery"],
  },
  {
    name: "demo",
    group: "Set up",
    summary: "run one real turn with a scripted model, without a key",
    options: [{ flags: "--keep", summary: "keep the temporary repository" }, JSON_OPTION],
    examples: ["rookery demo"],
    load: async () => (await import("./demo/demo.ts")).demoCommand,
  },
  {
    name: "completion",
    group: "Set up",
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
  notes: "Exit codes: 0 success, 1 failure, 2 bad input, 3 decision missing, 130 cancelled.",
  examples: [
    "rookery",
    'rookery "Fix the failing test"',
    "rookery -c",
    'rookery run "Explain this repository"',
    'rookery task start "Add pagination"',
  ],
};
