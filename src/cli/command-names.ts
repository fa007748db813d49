/** The names of the top-level commands, in the order of the help. Apart from the table, so that `io.ts` can use them. */
export const COMMAND_NAMES = [
  "chat",
  "run",
  "task",
  "serve",
  "open",
  "sessions",
  "search",
  "usage",
  "acp",
  "mcp",
  "tell",
  "inbox",
  "answer",
  "agents",
  "init",
  "config",
  "trust",
  "doctor",
  "migrate",
  "demo",
  "completion",
  "complete",
] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];
