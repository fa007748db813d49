/** Finds a command by its name. */
import type { CommandSpec } from "./command.ts";

/** Both numbers of a noun name the same command. */
const OTHER_NUMBERS: Readonly<Record<string, string>> = { session: "sessions", tasks: "task", agent: "agents" };

/** Finds a command by its name, in either number: `task` or `tasks`. */
export function findCommand(commands: readonly CommandSpec[], word = ""): CommandSpec | undefined {
  const other = Object.hasOwn(OTHER_NUMBERS, word) ? OTHER_NUMBERS[word] : undefined;
  return commands.find(({ name }) => name === word) ?? commands.find(({ name }) => name === other);
}
