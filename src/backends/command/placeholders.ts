/** Fills the placeholders of a command. No shell is involved, so nothing is quoted. */
import { RookeryError } from "../../domain/errors.ts";
import type { TaskPlaceholder, TaskValues } from "../../domain/task/values.ts";

const TASK_NAMES = ["task", "branch", "base", "worktree", "port"] as const satisfies readonly TaskPlaceholder[];
const NAMES = ["prompt", "session", "model", "cwd", ...TASK_NAMES] as const;

export type Placeholder = (typeof NAMES)[number];

const PLACEHOLDER = new RegExp(`\\{(${NAMES.join("|")})\\}`, "g");

/** A word in braces. Not `${HOME}` of a shell, `{{json}}` of a template, or `{ print }` of a program. */
const WORD_IN_BRACES = /(?<![{$])\{([a-z_]+)\}(?!\})/g;

export function findPlaceholders(command: readonly string[]): Set<Placeholder> {
  return new Set(command.flatMap((word) => Array.from(word.matchAll(PLACEHOLDER), ([, name]) => name as Placeholder)));
}

/** Fills each placeholder once: a prompt may contain `{model}`. */
export function fillPlaceholders(
  command: readonly string[],
  values: Readonly<Partial<Record<Placeholder, string | undefined>>>,
): string[] {
  return command.map((word) => word.replaceAll(PLACEHOLDER, (_, name: Placeholder) => values[name] ?? ""));
}

export interface PlaceholderValues {
  readonly agent: string;
  readonly model: string | undefined;
  /** Undefined if the session does not belong to a task. */
  readonly task: TaskValues | undefined;
}

/** Throws `config_invalid` if the command has an unknown placeholder, or one without a value in this session. */
export function checkPlaceholders(command: readonly string[], { agent, model, task }: PlaceholderValues): void {
  const unknown = command.flatMap((word) => Array.from(word.matchAll(WORD_IN_BRACES), ([, name = ""]) => name));
  for (const name of unknown) {
    if (NAMES.some((known) => known === name)) continue;
    const known = NAMES.map((each) => `{${each}}`).join(", ");
    const advice = `use one of ${known}, or write { ${name} } with spaces if it is no placeholder`;
    throw new RookeryError(
      "config_invalid",
      `the command of ${agent} has the unknown placeholder {${name}}: ${advice}`,
    );
  }
  const used = findPlaceholders(command);
  const refuse = (name: Placeholder, problem: string): never => {
    throw new RookeryError("config_invalid", `the command of ${agent} uses {${name}}, but ${problem}`);
  };
  if (used.has("model") && model === undefined) {
    refuse("model", `no model is set: add model = "…" under [agents.${agent}]`);
  }
  for (const name of TASK_NAMES.filter((each) => used.has(each))) {
    if (task === undefined)
      refuse(name, 'this session does not belong to a task: start one with rookery task start "PROMPT"');
    else if (task[name] === undefined)
      refuse(name, "the task has no port: set port = true under [worktree], which is the default");
  }
}
