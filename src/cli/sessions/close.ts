/** `rookery sessions close`: closes a session and keeps its log. */
import { shortId } from "../../domain/ids.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { printJson, printText } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { isSet } from "../options.ts";
import { findSession } from "./find.ts";

export async function closeSessionCommand({ io, args: [named = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openRookeryAnywhere(io);
  const { id } = await findSession(rookery.store, named, io);
  await rookery.endSession(id);
  if (isSet(options, "json")) await printJson(io, { session: id, status: "closed" });
  else await printText(io, `closed ${shortId(id)}; its log is kept: rookery sessions show ${shortId(id)}\n`);
  return EXIT.done;
}
