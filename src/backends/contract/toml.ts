/** Changes the command in the lines of `[agents.it]`, for example to wrap the program. */
import { fileURLToPath } from "node:url";

const NOISY = fileURLToPath(new URL("../../../test/support/stand-in/noisy.mjs", import.meta.url));
const COMMAND = /^command = (\[.*\])$/m;

export function readCommand(toml: string): readonly string[] {
  const found = COMMAND.exec(toml)?.[1];
  if (found === undefined) throw new Error(`there is no command in ${toml}`);
  return JSON.parse(found) as string[];
}

export function changeCommand(toml: string, change: (command: readonly string[]) => readonly string[]): string {
  const command = change(readCommand(toml));
  return toml.replace(COMMAND, () => `command = ${JSON.stringify(command)}`);
}

/** Wraps the program so that noise appears between its lines. */
export function wrapInNoise(command: readonly string[]): readonly string[] {
  return [process.execPath, NOISY, "--", ...command];
}
