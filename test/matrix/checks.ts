/** Checks that must hold wherever the processes of a story were killed. Each returns messages about violations. */
import { isDeepStrictEqual } from "node:util";
import type { EventOf, JournalEntry, SessionEvent } from "../../src/domain/index.ts";
import { transcript } from "../../src/testing/index.ts";
import { isFailure, type StoryResult, type StoredState } from "./cell.ts";
import { ASKED, ONCE, REPEATABLE, type Label } from "./conversation.ts";

/** Returns an empty list if everything is correct. `whole` is the same story without a kill. */
export function findViolations(played: StoryResult, whole: StoryResult): string[] {
  const { lives, left, problems } = played;
  const last = lives.at(-1);
  return [
    ...(last?.exitCode === 0 ? [] : [`the last process ended with ${last?.exitCode}: ${last?.stderr}`]),
    ...checkHistory(played),
    ...findDuplicates(finalState(played).events),
    ...checkStory(played, whole),
    ...checkRequests(played),
    ...checkRuns(played),
    ...left.map((what) => `left behind: ${what}`),
    ...problems,
  ];
}

export function finalState({ remains }: StoryResult): StoredState {
  return remains.at(-1) ?? { events: [], journal: [], runs: [] };
}

export function findUnknownCalls(events: readonly SessionEvent[]): string[] {
  return of(events, "tool.ended").flatMap(({ outcome, toolId }) => (outcome === "unknown" ? toolId : []));
}

/** Events that were committed before a kill must not change. */
function checkHistory({ remains }: StoryResult): string[] {
  const { events } = remains.at(-1) ?? { events: [] };
  const gaps = events.filter(({ seq }, index) => seq !== index + 1).map(({ seq }) => `a gap before event ${seq}`);
  const rewritten = remains.flatMap((before, life) =>
    before.events
      .filter((event, index) => !isDeepStrictEqual(event, events[index]))
      .map(({ seq, type }) => `event ${seq} (${type}) of life ${life + 1} was lost or changed`),
  );
  return [...gaps, ...rewritten];
}

/** Each of these events must occur at most once. */
function findDuplicates(events: readonly SessionEvent[]): string[] {
  const names = events.flatMap((event) => formatName(event) ?? []);
  return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `doubled: ${name}`);
}

function formatName(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "session.opened":
    case "context.compacted":
      return event.type;
    case "turn.started":
    case "turn.ended":
      return `${event.type} ${event.turnId}`;
    case "message.completed":
      return `${event.type} ${event.text}`; // the model never repeats a text
    case "tool.started":
    case "tool.ended":
    case "permission.requested":
      return `${event.type} ${event.toolId}`;
    case "permission.resolved":
      return `${event.type} ${event.requestId}`;
    case "input.queued":
    case "input.delivered":
      return `${event.type} ${JSON.stringify(event.input)}`;
    case "notice":
      return event.code === "provider_retry" ? event.code : undefined;
    default:
      return undefined;
  }
}

/** The events must be the same as without a kill. Only lost calls may have another outcome. */
function checkStory(played: StoryResult, whole: StoryResult): string[] {
  const { events } = finalState(played);
  const [expected, got] = [finalState(whole).events, events].map(outlineEvents);
  const faults = isDeepStrictEqual(expected, got)
    ? []
    : [`the events differ from the story without a kill: ${JSON.stringify(got)}`];
  const usage = of(events, "usage.reported").length - of(finalState(whole).events, "usage.reported").length;
  if (usage !== 0) faults.push(`usage was reported ${usage} times too often`);
  const asked = JSON.stringify(played.requests.map(({ request }) => request.body));
  const unknown = findUnknownCalls(events);
  if (unknown.length > 0 && !asked.includes("It was not repeated. Check the current state"))
    faults.push("the model was not informed about the unknown outcome");
  const removed = of(events, "tool.ended").filter(({ toolId, outcome }) => toolId === "h" && outcome === "failed");
  if (removed.length !== 1) faults.push("the call of a removed tool did not fail");
  if (unknown.length > 2 * (played.lives.length - 1)) faults.push(`unknown: ${unknown.join(", ")}`); // at most two run at once
  return faults;
}

/** Sorts the events of concurrent calls, whose order varies. */
function outlineEvents(events: readonly SessionEvent[]): { lines: string[]; calls: string[] } {
  const about = events.filter((event) => !(event.type === "notice" && event.code === "turn_resumed"));
  const isOfCall = ({ type }: SessionEvent) => /^(tool|permission)\.|^input\.queued/.test(type);
  const calls = about.filter(isOfCall).map((event) => `${event.type} ${"toolId" in event ? event.toolId : ""}`);
  return { lines: transcript(about.filter((event) => !isOfCall(event))), calls: calls.sort() };
}

/** A journaled reply must not be requested again, and each kill may repeat at most one request. */
function checkRequests({ requests, remains, lives }: StoryResult): string[] {
  const count = (label: Label, from = 0) => requests.filter((one) => one.label === label && one.life >= from).length;
  const labels = Object.keys(ASKED) as Label[];
  const extra = labels.reduce((sum, label) => sum + count(label) - ASKED[label], 0);
  const wrong = labels.filter((label) => count(label) < ASKED[label]).map((label) => `${label} was not requested`);
  if (extra > lives.length - 1) wrong.push(`there were ${extra} extra requests`);
  remains.slice(0, -1).forEach((before, life) => {
    for (const entry of before.journal.filter(({ key, finished }) => finished && key.kind === "model")) {
      const again = count(labelOfEntry(entry, before), life + 1);
      const wanted = isFailure(entry) ? lives.length - life - 1 : 0; // each later process may retry
      if (again > wanted) wrong.push(`${entry.key.step} ${entry.key.id} was journaled and requested again`);
    }
  });
  return wrong;
}

function labelOfEntry({ key: { step, id, turnId } }: JournalEntry, { events }: StoredState): Label {
  if (of(events, "turn.started")[0]?.turnId !== turnId) return "second";
  return id.startsWith("summary") ? "summary" : (`step ${step}` as Label);
}

function checkRuns({ remains, lives }: StoryResult): string[] {
  const { events, runs } = remains.at(-1) ?? { events: [], runs: [] };
  const times = (run: string, from = 0) => runs.slice(from).filter((line) => line === run).length;
  const lost = new Set(findUnknownCalls(events).map((toolId) => runOf(events, toolId)));
  const wrong = ONCE.filter((run) => times(run) > 1 || (times(run) === 0 && !lost.has(run))).map(
    (run) => `${run} ran ${times(run)} times`,
  );
  wrong.push(
    ...REPEATABLE.filter((run) => times(run) < 1 || times(run) > lives.length).map(
      (run) => `${run} ran ${times(run)} times`,
    ),
  );
  wrong.push(
    ...REPEATABLE.filter((run) => lost.has(run)).map((run) => `${run} is repeatable, but its outcome is unknown`),
  );
  for (const before of remains.slice(0, -1)) {
    for (const { key } of before.journal.filter(({ key, finished }) => finished && key.kind === "tool")) {
      const run = runOf(before.events, key.id);
      if (times(run, before.runs.length) > 0) wrong.push(`${run} was journaled and ran again`);
    }
  }
  return wrong;
}

/** Returns the line that a call appends to the runs file. */
function runOf(events: readonly SessionEvent[], toolId: string): string {
  const started = of(events, "tool.started").find((event) => event.toolId === toolId);
  const id = (started?.input as { id?: string } | undefined)?.id ?? toolId;
  return `${started?.name} ${id}`;
}

function of<Type extends SessionEvent["type"]>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}
