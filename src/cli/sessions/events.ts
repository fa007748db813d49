/** `rookery sessions events`: prints the log of a session, and follows it with --follow. */
import type { SessionEvent } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import { loadState } from "../../session/open.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { countOption, isSet } from "../options.ts";
import { findSession } from "./find.ts";
import { formatEventLine } from "./event-line.ts";
import { readSessionEvents } from "./read-events.ts";

export async function sessionEventsCommand({ io, args: [named = ""], options }: CommandCall): Promise<ExitCode> {
  const after = countOption(options, "after", 0) ?? 0;
  const limit = countOption(options, "limit", 1) ?? Infinity;
  const show = isSet(options, "json")
    ? (event: SessionEvent) => printJson(io, event)
    : (event: SessionEvent) => print(io, `${formatEventLine(event)}\n`);
  await using rookery = await openRookeryAnywhere(io);
  const { id: sessionId } = await findSession(rookery.store, named, io);
  const events = isSet(options, "follow")
    ? rookery.store.follow({ sessionId, after })
    : readSessionEvents(rookery.store, sessionId, after);
  let printed = 0;
  for await (const event of events) {
    if (event.type === "agent.raw" && !isSet(options, "all")) continue;
    await show(event);
    printed += 1;
    if (printed >= limit || (await isLastEvent(rookery.store, event))) break;
  }
  return EXIT.done;
}

/** True if the session is closed and its turn has ended, so that no event follows. */
async function isLastEvent(store: SessionStore, { type, seq, sessionId }: SessionEvent): Promise<boolean> {
  if (type !== "session.closed" && type !== "turn.ended") return false;
  const summary = await store.summary(sessionId);
  if (summary?.status !== "closed" || summary.head !== seq) return false;
  return (await loadState(store, sessionId)).turn === undefined;
}
