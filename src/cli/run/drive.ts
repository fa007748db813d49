/** Drives an open session through its turns while a person or a program watches, and says how it went. */
import type { SessionEvent, TurnOutcome } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { Session } from "../../session/session.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, say } from "../io.ts";
import { oneLine } from "../printable.ts";
import { pagesOf } from "../sessions/pages.ts";
import { askedIn, openRequests } from "./asked.ts";
import { Asker } from "./asker.ts";
import { aborted, watchInterrupts } from "./interrupts.ts";
import { openScreen, type Screen } from "./screen.ts";
import { watchLog } from "./watch.ts";

export interface Drive {
  readonly io: Io;
  readonly store: SessionStore;
  /** Let go of at the end. */
  readonly session: Session;
  readonly prompt: string | undefined;
  readonly json: boolean;
  /** Can the person at this terminal be asked? */
  readonly here: boolean;
  /** Are refusals somebody's choice, or was nobody there to ask? */
  readonly attended: boolean;
  /** The last event of the log that is not to be shown. */
  readonly after: number;
}

export async function drive(options: Drive): Promise<ExitCode> {
  const { io, session, store, prompt, after } = options;
  using interrupts = watchInterrupts(io);
  using screen = openScreen(io, options.json);
  const left = await openRequests(store, session.state);
  if (session.resumed !== undefined) await recall(screen, options);
  let outcome: TurnOutcome | undefined;
  {
    await using asker = askerFor(options, screen);
    await using _watch = watchLog(store, { sessionId: session.id, after }, async (event) => {
      await screen.show(event);
      bringUp(asker, event, options.attended);
    });
    await using _letGo = session; // before the watch ends, so that it shows all that is left in the log
    for (const asked of left) asker.ask(asked);
    if (hasWork(session)) outcome = await settled(session, interrupts.signal);
    if (prompt !== undefined && !interrupts.signal.aborted && outcome?.status !== "cancelled") {
      const input = await expanded(session, prompt, interrupts.signal);
      if (input !== undefined) session.prompt(input);
      outcome = input === undefined ? { status: "cancelled" } : await settled(session, interrupts.signal);
    }
  }
  return conclude(options, outcome ?? { status: "cancelled" }, screen.refused);
}

/** The turn began in another process, and what it began is named there. */
async function recall(screen: Screen, { store, session, after }: Drive): Promise<void> {
  for await (const event of pagesOf(store, session.id, 0)) {
    if (event.seq > after) return;
    screen.recall(event);
  }
}

/** A turn that a killed process left, or inputs that wait for theirs: they go before a prompt, by themselves. */
export function hasWork({ state }: Session): boolean {
  return state.turn !== undefined || state.queue.length > 0;
}

/** A prompt of an MCP server is got from it first. Undefined where that was interrupted. */
async function expanded(session: Session, prompt: string, signal: AbortSignal) {
  try {
    const input = await session.expand(prompt, { signal });
    return signal.aborted ? undefined : input;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Waits for the end of all turns and answers how the last one went; when interrupted it cancels, and no other starts. */
async function settled(session: Session, interrupted: AbortSignal): Promise<TurnOutcome | undefined> {
  const idle = session.idle();
  await Promise.race([idle, aborted(interrupted)]);
  if (interrupted.aborted) await session[Symbol.asyncDispose]();
  await idle;
  return session.state.lastOutcome;
}

function askerFor({ io, session, here }: Drive, screen: Screen): Asker {
  return new Asker({
    io,
    sessionId: session.id,
    here,
    answer: (requestId, answer) => session.answer(requestId, answer),
    onBusy: (busy) => screen.hold(busy),
  });
}

/** Where nobody is attending, the gate has answered by itself. */
function bringUp(asker: Asker, event: SessionEvent, attended: boolean): void {
  if (event.type === "permission.resolved" || event.type === "question.answered") asker.resolved(event.requestId);
  const asked = attended ? askedIn(event) : undefined;
  if (asked !== undefined) asker.ask(asked);
}

function conclude({ io, session, attended }: Drive, outcome: TurnOutcome, refused: readonly string[]): ExitCode {
  switch (outcome.status) {
    case "cancelled":
      return EXIT.cancelled;
    case "failed":
      say(io, outcome.message);
      return outcome.code === "budget_reached" && !attended ? EXIT.undecided : EXIT.failed;
    case "stalled":
      say(io, outcome.message);
      return EXIT.failed;
    case "done":
      if (attended || refused.length === 0 || session.state.permissions !== "ask") return EXIT.done;
      say(
        io,
        `refused, since nobody could be asked: ${oneLine(refused.join(", "), 300)}; ` +
          "allow with --permissions all, or wait for answers with --permissions ask and rookery answer",
      );
      return EXIT.undecided;
  }
}
