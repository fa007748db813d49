/** `rookery tell`: an input for a session, whichever process drives it, or none does. */
import { isDriven } from "../session/lease.ts";
import { loadState } from "../session/open.ts";
import { systemClock } from "../stdx/clock.ts";
import type { Call } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { print, printJson, say } from "./io.ts";
import { openLog } from "./log.ts";
import { isSet } from "./options.ts";
import { findSession } from "./sessions/find.ts";
import { commandToGoOn } from "./sessions/going-on.ts";

export async function tell({ io, args: [named = "", input = ""], options }: Call): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const { id } = await findSession(rookery.store, named);
  const deliver = isSet(options, "followUp") ? "follow_up" : "steer";
  const inputId = await rookery.tell(id, input, { deliver });
  if (isSet(options, "json")) await printJson(io, { session: id, input: inputId, deliver });
  else await print(io, `told ${id}\n`);
  if (!(await isDriven(rookery.store, id, systemClock))) {
    const state = await loadState(rookery.store, id);
    say(io, `no process drives the session now, so that it waits; go on with it: ${commandToGoOn(state)}`);
  }
  return EXIT.done;
}
