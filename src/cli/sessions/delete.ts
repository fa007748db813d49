/** `rookery sessions delete`: deletes a session and its log. */
import { shortId } from "../../domain/ids.ts";
import { SessionDrafts } from "../chat/outbox/session-drafts.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { isSet } from "../options.ts";
import { findSession } from "./find.ts";

export async function deleteSessionCommand({ io, args: [named = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openRookeryAnywhere(io);
  const { id } = await findSession(rookery.store, named, io);
  await rookery.deleteSession(id);
  await new SessionDrafts(rookery.home).take(id);
  if (isSet(options, "json")) await printJson(io, { session: id, status: "deleted" });
  else await print(io, `deleted ${shortId(id)} and its log\n`);
  return EXIT.done;
}
