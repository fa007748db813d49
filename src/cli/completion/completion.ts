/** `rookery completion`: prints the completion script for a shell. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print } from "../io.ts";
import { COMPLETION_SCRIPTS } from "./scripts.ts";

export async function completionCommand({ io, args: [shell] }: CommandCall): Promise<ExitCode> {
  await print(io, COMPLETION_SCRIPTS[shell as keyof typeof COMPLETION_SCRIPTS]);
  return EXIT.done;
}
