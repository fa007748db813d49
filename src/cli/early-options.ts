/** Finds options that were typed before the name of their command, as in `rookery -m MODEL run`. */
import { splitAssignment } from "../stdx/split-assignment.ts";
import { type CommandSpec, longFlag, shortFlag, takesValue } from "./command.ts";
import { findCommand } from "./find-command.ts";

/**
 * Returns how many words before the name of a subcommand are options and their values. Returns 0 if no name follows, or
 * if it is not clear whether an option takes the next word as its value.
 */
export function countEarlyOptions(command: CommandSpec, words: readonly string[]): number {
  let index = 0;
  for (let word = words[0]; word?.startsWith("-") === true; word = words[index]) {
    const [flag, inline] = splitAssignment(word);
    const hasValue = findValueUse(command, flag);
    if (hasValue === undefined) return 0;
    index += hasValue && inline === undefined ? 2 : 1;
  }
  return findCommand(command.commands ?? [], words[index]) === undefined ? 0 : index;
}

/** Whether the option takes a value. Undefined if no command below has it, or if commands differ. */
function findValueUse(command: CommandSpec, flag: string): boolean | undefined {
  const uses = new Set(
    listLeaves(command).flatMap(({ options = [] }) =>
      options.filter((option) => longFlag(option) === flag || shortFlag(option) === flag).map(takesValue),
    ),
  );
  const [use] = uses;
  return uses.size === 1 ? use : undefined;
}

function listLeaves(command: CommandSpec): readonly CommandSpec[] {
  return command.commands === undefined ? [command] : command.commands.flatMap(listLeaves);
}
