/** `rookery trust`: marks the current files of a repository as trusted. */
import { resolve } from "node:path";
import { tooLargeMessage, trust } from "../config/trust.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { print, printJson, printNotice } from "./io.ts";
import { isSet } from "./options.ts";
import { escapeInvisible } from "./sanitize.ts";

export async function trustCommand({ io, args: [dir = "."], options }: CommandCall): Promise<ExitCode> {
  const state = await trust(resolve(io.cwd(), dir), io.env);
  if (isSet(options, "json")) await printJson(io, state);
  else if (state.status === "nothing_to_trust")
    await print(io, `${escapeInvisible(state.root)} has no files that need trust\n`);
  else await print(io, `trusted ${escapeInvisible(state.root)}: ${state.files.map(escapeInvisible).join(", ")}\n`);
  if (state.status === "trusted" && state.tooLarge !== undefined) {
    printNotice(io, escapeInvisible(tooLargeMessage(state.root, state.tooLarge)));
  }
  return EXIT.done;
}
