/** What a person may want to type next, a line for each. */

const NEXT_COMMANDS = {
  logs: "watch it",
  show: "see all of it",
  diff: "see what it changed",
  merge: "bring it into the branch that it began from",
  resume: "go on with it",
  stop: "stop it; its worktree stays",
  remove: "forget it with its worktree and branch",
} as const;

export type NextCommand = keyof typeof NEXT_COMMANDS;

export function formatNextCommands(id: string, names: readonly NextCommand[]): string {
  const rows = names.map(
    (name) => [`rookery task ${name} ${id}${name === "logs" ? " -f" : ""}`, NEXT_COMMANDS[name]] as const,
  );
  const width = Math.max(...rows.map(([command]) => command.length));
  return rows.map(([command, what]) => `  ${command.padEnd(width)}   ${what}\n`).join("");
}
