/** Formats the commands that a person may want to type next, one per line. */

const NEXT_COMMANDS = {
  logs: "follow its log",
  show: "show its details",
  diff: "show its changes",
  merge: "merge it into its base branch",
  resume: "continue it",
  stop: "stop it and keep its worktree",
  remove: "delete it with its worktree and branch",
} as const;

export type NextCommand = keyof typeof NEXT_COMMANDS;

export function formatNextCommands(id: string, names: readonly NextCommand[]): string {
  const rows = names.map(
    (name) => [`rookery task ${name} ${id}${name === "logs" ? " -f" : ""}`, NEXT_COMMANDS[name]] as const,
  );
  const width = Math.max(...rows.map(([command]) => command.length));
  return rows.map(([command, what]) => `  ${command.padEnd(width)}   ${what}\n`).join("");
}
