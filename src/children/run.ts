/** Drives one child to the end of its turn, from the start or from where a dead process left it. */
import {
  isRookeryError,
  messageOf,
  type Child,
  type ChildEnd,
  type ChildWatcher,
  type PermissionPolicy,
  type TurnOutcome,
} from "../domain/index.ts";
import type { Session, Turn } from "../session/index.ts";
import { parseAttempt, readChildEnd, childTurnId, type ChildAttemptEnd } from "./child-end.ts";
import type { ChildrenParts, ParentSession } from "./types.ts";
import { startRelay } from "./relay.ts";

export interface ChildRunParts extends ChildrenParts {
  readonly parent: ParentSession;
}

/** How many attempts a child gets if the processes that run it are killed. */
const MAX_ATTEMPTS = 5;
const CANCELLED: TurnOutcome = { status: "cancelled" };

export async function runChild(
  parts: ChildRunParts,
  child: Child,
  watcher: ChildWatcher,
  signal: AbortSignal,
): Promise<ChildEnd> {
  const before = await readChildEnd(parts.store, child.id);
  if (child.ended !== undefined) return { text: "", usage: undefined, ...before, outcome: child.ended };
  if (before !== undefined && !shouldRetry(before)) return before;
  if (signal.aborted) return before ?? { outcome: CANCELLED, text: "", usage: undefined };
  let session: Session;
  try {
    session = await openChild(parts, child);
  } catch (error) {
    return (await readChildEnd(parts.store, child.id)) ?? toFailedEnd(error);
  }
  try {
    await driveChild(parts, session, child, watcher, signal);
  } finally {
    await session.close({ cancelParked: true });
  }
  return (await readChildEnd(parts.store, child.id)) ?? { outcome: CANCELLED, text: "", usage: undefined };
}

/** True if the child's process was killed and its agent could not resume the turn itself. */
function shouldRetry({ outcome, attempt }: ChildAttemptEnd): boolean {
  return outcome.status === "failed" && outcome.code === "interrupted" && attempt < MAX_ATTEMPTS;
}

async function openChild(parts: ChildRunParts, child: Child): Promise<Session> {
  const { store, parent } = parts;
  const { id, title, agent = parent.agent } = child;
  const { attended, cwd, sessionId, depth } = parent;
  const known = await store.summary(id);
  if (known !== undefined) return parts.open({ id, agent: known.agent, attended });
  const configured = parent.agents.find(({ name }) => name === agent);
  const model = agent === parent.agent ? parent.model : configured?.model;
  const own = agent === parent.agent ? undefined : configured?.permissions;
  const permissions = narrowPermissions(child.permissions, own);
  return parts.open({
    child: { id, parent: sessionId, depth: depth + 1 },
    agent,
    cwd,
    title,
    attended,
    ...(model !== undefined && { model }),
    ...(permissions !== undefined && { permissions }),
  });
}

/**
 * Returns the permissions of a child. A child never has more than its parent, and an agent with fewer permissions
 * keeps those. What the parent may do without asking, the child may do too, because the person allowed it for the
 * whole session.
 */
function narrowPermissions(parents: PermissionPolicy | undefined, own: PermissionPolicy | undefined): typeof own {
  if (own === "none" || parents === "none") return "none";
  return own === "read" || parents === "read" ? "read" : parents;
}

async function driveChild(
  parts: ChildRunParts,
  session: Session,
  child: Child,
  watcher: ChildWatcher,
  signal: AbortSignal,
): Promise<void> {
  const cancel = (): void => void session.cancel().catch(() => undefined); // callers that wait for the turn get the error
  const { attended } = parts.parent;
  const relay = startRelay(parts, { session, title: child.title, attended, watcher, signal, onBroken: cancel });
  signal.addEventListener("abort", cancel, { once: true });
  try {
    if (signal.aborted) cancel();
    const turn = await startTurn(parts, session, child, signal);
    await turn?.outcome.catch(() => undefined); // if the log cannot be written, it has no outcome
  } finally {
    signal.removeEventListener("abort", cancel);
    await relay.stop();
  }
}

/** Resolves with undefined if there is nothing left to do. */
async function startTurn(
  { store }: ChildRunParts,
  session: Session,
  { id, prompt }: Child,
  signal: AbortSignal,
): Promise<Turn | undefined> {
  if (parseAttempt(id, session.resumed?.id) !== undefined) return session.resumed;
  await session.idle(); // input from a person goes first
  if (signal.aborted) return undefined;
  const last = await readChildEnd(store, id);
  if (last === undefined) return session.prompt(prompt, { signal, turnId: childTurnId(id, 1) });
  if (!shouldRetry(last)) return undefined;
  return session.prompt(formatResumePrompt(prompt), { signal, turnId: childTurnId(id, last.attempt + 1) });
}

function formatResumePrompt(prompt: string): string {
  return (
    "The process that ran you was killed before you finished. Check what is already done, do not repeat it, and " +
    `finish your task:\n\n${prompt}`
  );
}

function toFailedEnd(error: unknown): ChildEnd {
  const code = isRookeryError(error) ? error.code : "internal";
  return { outcome: { status: "failed", code, message: messageOf(error) }, text: "", usage: undefined };
}
