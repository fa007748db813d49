/**
 * Drives an open session and returns the exit code. Everything it shows comes from the log: `watchSessionLog` follows the
 * log and passes each committed event to the screen, while the prompt runs.
 */
import type { SessionEvent, TurnOutcome } from "../../domain/events.ts";
import type { SessionStore } from "../../domain/store.ts";
import type { Session } from "../../session/session.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, printNotice } from "../io.ts";
import { canAskWithKeys } from "../questions/question-terminal.ts";
import { toSingleLine } from "../sanitize.ts";
import { readSessionEvents } from "../sessions/read-events.ts";
import { toPendingRequest, pendingSessionRequests } from "./pending-request.ts";
import { RequestPrompter } from "./request-prompter.ts";
import { untilAborted, watchInterrupts } from "./interrupts.ts";
import { openScreen, type Screen } from "./screen.ts";
import { watchSessionLog } from "./watch.ts";

export interface DriveOptions {
  readonly io: Io;
  readonly store: SessionStore;
  /** Released at the end. */
  readonly session: Session;
  readonly prompt: string | undefined;
  /** Without a prompt: continues the last turn, which is not done. Default: false. */
  readonly resumes?: boolean;
  readonly json: boolean;
  /** True if the person at this terminal can be asked. */
  readonly atTerminal: boolean;
  /** False if requests are denied because nobody can answer them. */
  readonly attended: boolean;
  /** Events up to this one are not shown. */
  readonly after: number;
  /** Called with the `seq` of each event that was shown. */
  readonly onShown?: ((seq: number) => void) | undefined;
}

export async function driveSession(options: DriveOptions): Promise<ExitCode> {
  const { io, session, store, prompt, after } = options;
  using interrupts = watchInterrupts(io, () => screen.makeRoom());
  const repeatsDecisions = options.atTerminal && canAskWithKeys(io); // a question with keys is erased when it is answered
  using screen = openScreen(io, { json: options.json, folder: session.state.cwd, repeatsDecisions });
  const openRequests = await pendingSessionRequests(store, session.state);
  if (session.resumed !== undefined) await replayEarlierEvents(screen, options);
  let outcome: TurnOutcome | undefined;
  {
    await using prompter = createPrompter(options, screen);
    await using _watch = watchSessionLog(store, { sessionId: session.id, after }, async (event) => {
      await screen.show(event);
      options.onShown?.(event.seq);
      handleRequest(prompter, event, options);
    });
    await using _released = session; // released before the watch ends, so that the watch shows all remaining events
    for (const request of openRequests) prompter.ask(session.id, request);
    if (options.resumes === true) session.resume(); // the watch shows its events
    if (hasPendingWork(session) || options.resumes === true) outcome = await waitUntilIdle(session, interrupts.signal);
    else if (prompt === undefined) outcome = session.state.lastOutcome; // its turn ended when it was opened
    if (prompt !== undefined && !interrupts.signal.aborted && outcome?.status !== "cancelled") {
      const input = await expandPrompt(session, prompt, interrupts.signal);
      if (input !== undefined) session.prompt(input); // the watch shows its events
      outcome = input === undefined ? { status: "cancelled" } : await waitUntilIdle(session, interrupts.signal);
    }
  }
  return reportOutcome(options, outcome ?? { status: "cancelled" }, screen.refused);
}

/** Replays earlier events of a turn that started in another process, to know the titles of its tools. */
async function replayEarlierEvents(screen: Screen, { store, session, after }: DriveOptions): Promise<void> {
  for await (const event of readSessionEvents(store, session.id, 0)) {
    if (event.seq > after) return;
    screen.replay(event);
  }
}

/** True if a turn of a killed process or queued inputs run before a new prompt. */
export function hasPendingWork({ state }: Session): boolean {
  return state.turn !== undefined || state.queue.length > 0;
}

/** Fetches a prompt of an MCP server. Returns undefined after an interrupt. */
async function expandPrompt(session: Session, prompt: string, signal: AbortSignal) {
  try {
    const input = await session.expand(prompt, { signal });
    return signal.aborted ? undefined : input;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Waits for all turns and returns the outcome of the last one. An interrupt cancels the turn and starts no other. */
async function waitUntilIdle(session: Session, interrupted: AbortSignal): Promise<TurnOutcome | undefined> {
  const idle = session.idle();
  await Promise.race([idle, untilAborted(interrupted)]);
  if (interrupted.aborted) await session.close({ cancelParked: true });
  await idle;
  return session.state.lastOutcome;
}

function createPrompter({ io, session, atTerminal }: DriveOptions, screen: Screen): RequestPrompter {
  return new RequestPrompter({
    io,
    atTerminal,
    answer: (_, requestId, answer) => session.answer(requestId, answer),
    onBusy: (busy, printAbove) => screen.hold(busy, printAbove),
  });
}

/** Unattended sessions answer their requests themselves. */
function handleRequest(prompter: RequestPrompter, event: SessionEvent, { attended, session }: DriveOptions): void {
  if (event.type === "permission.resolved" || event.type === "question.answered")
    prompter.resolved(session.id, event.requestId);
  const request = attended ? toPendingRequest(event, session.state.cwd) : undefined;
  if (request !== undefined) prompter.ask(session.id, request);
}

function reportOutcome(
  { io, session, attended }: DriveOptions,
  outcome: TurnOutcome,
  refused: readonly string[],
): ExitCode {
  switch (outcome.status) {
    case "cancelled":
      return EXIT.cancelled;
    case "failed":
      printNotice(io, outcome.message);
      return outcome.code === "budget_reached" && !attended ? EXIT.undecided : EXIT.failed;
    case "stalled":
      printNotice(io, outcome.message);
      return EXIT.failed;
    case "done":
      if (attended || refused.length === 0 || session.state.permissions !== "ask") return EXIT.done;
      printNotice(
        io,
        `denied because nobody could answer: ${toSingleLine(refused.join(", "), 300)}; ` +
          "allow with --permissions all, or wait for rookery answer with --permissions ask",
      );
      return EXIT.undecided;
  }
}
