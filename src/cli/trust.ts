/** `rookery trust`: remembers that what a repository brings may be used, as it is now. */
import { resolve } from "node:path";
import { tooLargeMessage, trust } from "../config/trust.ts";
import type { Call } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { print, printJson, say } from "./io.ts";
import { isSet } from "./options.ts";
import { visible } from "./printable.ts";

export async function trustRepository({ io, args: [dir = "."], options }: Call): Promise<ExitCode> {
  const state = await trust(resolve(io.cwd(), dir), io.env);
  if (isSet(options, "json")) await printJson(io, state);
  else if (state.status === "nothing_to_trust")
    await print(io, `${visible(state.root)} brings nothing that needs trust\n`);
  else await print(io, `trusted ${visible(state.root)}: ${state.files.map(visible).join(", ")}\n`);
  if (state.status === "trusted" && state.tooLarge !== undefined) {
    say(io, visible(tooLargeMessage(state.root, state.tooLarge)));
  }
  return EXIT.done;
}
