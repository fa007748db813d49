/** `rookery completion`: prints a completion script generated from the command table. */
import type { CommandCall } from "../command.ts";
import { COMMANDS } from "../commands.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print } from "../io.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function completionCommand({ io, args: [shell] }: CommandCall): Promise<ExitCode> {
  await print(io, SCRIPTS[shell as keyof typeof SCRIPTS](COMMANDS));
  return EXIT.done;
}
