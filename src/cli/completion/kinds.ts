/** Decides what completes an argument or the value of an option, if it is not one of a fixed list of words. */

/** `files` and `directories` are completed by the shell, the others by `rookery complete`. */
export type CompletionKind =
  | "agents"
  | "models"
  | "sessions"
  | "tasks"
  /** Sessions and tasks. */
  | "conversations"
  /** Conversations with a request that waits for an answer. */
  | "waiting"
  | "requests"
  /** Sessions that programs keep for the current directory. */
  | "native"
  | "servers"
  | "pipelines"
  /** Keys of `rookery.toml`. */
  | "keys"
  | "branches"
  /** Ids of the ACP registry. */
  | "registry"
  | "files"
  | "directories";

const OPTION_KINDS: Readonly<Record<string, CompletionKind>> = {
  "--agent": "agents",
  "--model": "models",
  "--session": "sessions",
  "--needs": "tasks",
  "--pipeline": "pipelines",
  "--base": "branches",
  "--into": "branches",
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
  key: "keys",
  dir: "directories",
  file: "files",
  from: "files",
  to: "files",
};

export function optionKind(flag: string): CompletionKind | undefined {
  return Object.hasOwn(OPTION_KINDS, flag) ? OPTION_KINDS[flag] : undefined;
}

/** `path`: the command, such as `mcp auth`. `name`: the name of the argument in the command table. */
export function argumentKind(path: string, name: string): CompletionKind | undefined {
  if (name === "session" && path === "tell") return "conversations";
  if (name === "session" && path === "answer") return "waiting";
  if (name === "name" && path.startsWith("mcp ")) return path === "mcp add" ? undefined : "servers";
  if (name === "id" && path === "acp registry") return "registry";
  if (name === "id" && path === "sessions adopt") return "native";
  return Object.hasOwn(ARGUMENT_KINDS, name) ? ARGUMENT_KINDS[name] : undefined;
}
