/** `rookery sessions close`. */
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { asTyped, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet } from "../options.ts";
import { findSession } from "./find.ts";

export async function closeSession({ io, args: [named = ""], options }: Call): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const { id } = await findSession(rookery.store, named);
  await rookery.closeSession(id);
  if (isSet(options, "json")) await printJson(io, { session: id, status: "closed" });
  else await print(io, asTyped(io, `closed ${id}; its log stays: rookery sessions events ${id}\n`));
  return EXIT.done;
}
