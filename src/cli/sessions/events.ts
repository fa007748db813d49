/** `rookery sessions events`: a session's log, whole or as it grows. */
import type { SessionEvent } from "../../domain/events.ts";
import { MAX_PAGE, type SessionStore } from "../../domain/store.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print } from "../io.ts";
import { openLog } from "../log.ts";
import { countOption, isSet } from "../options.ts";
import { findSession } from "./find.ts";
import { lineOf } from "./line.ts";

export async function printEvents({ io, args: [named = ""], options }: Call): Promise<ExitCode> {
  const after = countOption(options, "after", 0) ?? 0;
  const limit = countOption(options, "limit", 1) ?? Infinity;
  const show = isSet(options, "json") ? (event: SessionEvent) => JSON.stringify(event) : lineOf;
  await using rookery = await openLog(io);
  const { id: sessionId } = await findSession(rookery.store, named);
  const events = isSet(options, "follow")
    ? rookery.store.follow({ sessionId, after })
    : pagesOf(rookery.store, sessionId, after);
  let printed = 0;
  for await (const event of events) {
    if (event.type === "agent.raw" && !isSet(options, "all")) continue;
    await print(io, `${show(event)}\n`);
    printed += 1;
    if (printed >= limit) break;
  }
  return EXIT.done;
}

/** As far as the log goes now. */
async function* pagesOf(store: SessionStore, sessionId: string, start: number): AsyncIterable<SessionEvent> {
  for (let after = start; ;) {
    const { events } = await store.read({ sessionId, after, limit: MAX_PAGE });
    const last = events.at(-1);
    if (last === undefined) return;
    yield* events;
    after = last.seq;
  }
}
