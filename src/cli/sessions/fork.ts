/** `rookery sessions fork`: copies a session into a new one. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { withCommandPrefix, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet } from "../options.ts";
import { findSession } from "./find.ts";

export async function forkSessionCommand({ io, args: [named = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const { id } = await findSession(rookery.store, named, io);
  const forked = await rookery.forkSession(id);
  if (isSet(options, "json")) await printJson(io, { session: forked, parent: id });
  else
    await print(
      io,
      withCommandPrefix(io, `${forked} is a fork of ${id}; continue it with: rookery run --session ${forked} "…"\n`),
    );
  return EXIT.done;
}
