/** The first conversation: sessions, a prompt, unusual ids, and notifications that must not be answered. */
import type { CheckRequestId } from "../agent/message.ts";
import { formatOutcome } from "../agent/outcome.ts";
import { createCheckSession, type InitializedAgent, type CheckContext } from "../context.ts";
import { runPrompt, STOP_REASONS, textBlock, formatTurn } from "../prompt-turn.ts";
import type { TurnUpdate } from "../turn-updates.ts";

/** Returns true if a prompt works. Without that, cancel, replay and content cannot be checked. */
export async function checkBasics(context: CheckContext, agent: InitializedAgent): Promise<boolean> {
  const { findings } = context;
  const prompted = await createCheckSession(context, agent);
  const other = prompted && (await createCheckSession(context, agent));
  if (prompted !== undefined && other !== undefined) checkSessionIds(context, prompted.id, other.id);
  if (prompted !== undefined) findings.pass(14);
  await checkOddIds(context, agent);
  const works = prompted !== undefined && (await checkPrompt(context, agent, prompted.id));
  await checkNotifications(context, agent, prompted?.id);
  return works;
}

function checkSessionIds({ findings }: CheckContext, one: string, other: string): void {
  if (one === "" || other === "") findings.fail(8, "session/new returned an empty session id");
  else if (one === other) findings.fail(8, "session/new returned the same session id twice");
  else findings.pass(8);
}

async function checkPrompt(
  { findings, prompt: words }: CheckContext,
  { peer }: InitializedAgent,
  sessionId: string,
): Promise<boolean> {
  const strays: TurnUpdate[] = [];
  let updates = 0;
  const turn = await runPrompt(peer, sessionId, [textBlock(words)], (update) => {
    updates += 1;
    if (update.sessionId !== sessionId && strays.length === 0) strays.push(update);
  });
  const stray = strays[0];
  if (stray !== undefined) findings.fail(10, `${stray.kind} carried another session's id`);
  else if (updates > 0) findings.pass(10);
  else findings.notSeen(10, "the prompt caused no turn update");
  if (!STOP_REASONS.includes(turn.stopReason)) {
    findings.fail(9, formatTurn(turn));
    return false;
  }
  findings.pass(9);
  findings.pass(13);
  return true;
}

const ODD_IDS: readonly CheckRequestId[] = [
  0,
  42,
  "42",
  -7,
  Number.MAX_SAFE_INTEGER,
  "",
  'ein "Name" mit \\ und\nZeile, ü and \u{1f426}',
  "x".repeat(1_000),
];

/** Sends all of them at once, so that an agent that answers none costs only one timeout. */
async function checkOddIds({ findings }: CheckContext, { peer }: InitializedAgent): Promise<void> {
  const method = "_rookery/check";
  const outcomes = await Promise.all(ODD_IDS.map((id) => peer.request(method, {}, id)));
  const unanswered = outcomes.find(({ kind }) => kind === "silence" || kind === "ended");
  if (unanswered === undefined) findings.pass(16);
  else findings.fail(16, formatOutcome(method, unanswered));
}

async function checkNotifications(
  { findings }: CheckContext,
  { peer }: InitializedAgent,
  sessionId: string | undefined,
): Promise<void> {
  peer.notify("_rookery/check", {});
  peer.notify("$/cancel_request", { requestId: "rookery-never-sent" });
  if (sessionId !== undefined) peer.notify("session/cancel", { sessionId });
  if (await peer.settle()) findings.pass(4); // an answer would already have been recorded as a failure
}
