/** Decides what completes an argument or the value of an option, if it is not one of a fixed list of words. */

/** `files` and `directories` are completed by the shell, the others by `rookery complete`. */
export const COMPLETION_KINDS = [
  "agents",
  "models",
  "sessions",
  "tasks",
  "conversations",
  "requests",
  "servers",
  "pipelines",
  "files",
  "directories",
] as const;
export type CompletionKind = (typeof COMPLETION_KINDS)[number];

const OPTION_KINDS: Readonly<Record<string, CompletionKind>> = {
  "--agent": "agents",
  "--model": "models",
  "--session": "sessions",
  "--needs": "tasks",
  "--pipeline": "pipelines",
  "--cwd": "directories",
  "--add-dir": "directories",
  "--output": "directories",
  "--mcp": "files",
  "--trace": "files",
  "--file": "files",
};

const ARGUMENT_KINDS: Readonly<Record<string, CompletionKind>> = {
  session: "sessions",
  task: "tasks",
  request: "requests",
  dir: "directories",
  file: "files",
};

export function optionKind(flag: string): CompletionKind | undefined {
  return Object.hasOwn(OPTION_KINDS, flag) ? OPTION_KINDS[flag] : undefined;
}

/** `path`: the command, such as `mcp auth`. `name`: the name of the argument in the command table. */
export function argumentKind(path: string, name: string): CompletionKind | undefined {
  if (name === "session" && (path === "tell" || path === "answer")) return "conversations";
  if (name === "name" && path.startsWith("mcp ")) return "servers";
  return Object.hasOwn(ARGUMENT_KINDS, name) ? ARGUMENT_KINDS[name] : undefined;
}
