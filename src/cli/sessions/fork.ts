/** `rookery sessions fork`: copies a session into a new one. */
import { shortId } from "../../domain/ids.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { printJson, printText } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { countOption, isSet } from "../options.ts";
import { findSession } from "./find.ts";

export async function forkSessionCommand({ io, args: [named = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openRookeryAnywhere(io);
  const { id } = await findSession(rookery.store, named, io);
  const through = countOption(options, "through", 0);
  const forked = await rookery.forkSession(id, through === undefined ? {} : { through });
  if (isSet(options, "json")) await printJson(io, { session: forked, parent: id });
  else
    await printText(
      io,
      `${shortId(forked)} is a fork of ${shortId(id)}; continue it with: rookery run --session ${shortId(forked)} "…"\n`,
    );
  return EXIT.done;
}
