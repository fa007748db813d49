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

/** `width`: the columns of the terminal, in which a description that does not fit goes below its command. */
export function formatNextCommands(id: string, names: readonly NextCommand[], width?: number): string {
  const rows = names.map(
    (name) => [`rookery task ${name} ${id}${name === "logs" ? " -f" : ""}`, NEXT_COMMANDS[name]] as const,
  );
  const longest = Math.max(...rows.map(([command]) => command.length));
  const fits = width === undefined || rows.every(([, what]) => 5 + longest + what.length <= width);
  return rows
    .map(([command, what]) => (fits ? `  ${command.padEnd(longest)}   ${what}\n` : `  ${command}\n      ${what}\n`))
    .join("");
}
