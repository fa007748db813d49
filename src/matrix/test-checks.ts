/** What must hold of a story, wherever its processes were killed; each check says in words what does not. */
import { isDeepStrictEqual } from "node:util";
import type { EventOf, JournalEntry, SessionEvent } from "../domain/index.ts";
import { transcript } from "../testing/index.ts";
import { isFailure, type Played, type Remains } from "./test-cell.ts";
import { ASKED, ONCE, REPEATABLE, type Label } from "./test-words.ts";

/** Empty where all is well. `whole` is the same story without a kill. */
export function faultsOf(played: Played, whole: Played): string[] {
  const { lives, left, problems } = played;
  const last = lives.at(-1);
  return [
    ...(last?.exitCode === 0 ? [] : [`the last process ended with ${last?.exitCode}: ${last?.stderr}`]),
    ...historyFaults(played),
    ...doubles(endOf(played).events),
    ...storyFaults(played, whole),
    ...requestFaults(played),
    ...runFaults(played),
    ...left.map((what) => `left behind: ${what}`),
    ...problems,
  ];
}

export function endOf({ remains }: Played): Remains {
  return remains.at(-1) ?? { events: [], journal: [], runs: [] };
}

export function unknownIn(events: readonly SessionEvent[]): string[] {
  return of(events, "tool.ended").flatMap(({ outcome, toolId }) => (outcome === "unknown" ? toolId : []));
}

/** What was committed before a kill stays as it is, where it is. */
function historyFaults({ remains }: Played): string[] {
  const { events } = remains.at(-1) ?? { events: [] };
  const gaps = events.filter(({ seq }, index) => seq !== index + 1).map(({ seq }) => `a gap before event ${seq}`);
  const rewritten = remains.flatMap((before, life) =>
    before.events
      .filter((event, index) => !isDeepStrictEqual(event, events[index]))
      .map(({ seq, type }) => `event ${seq} (${type}) of life ${life + 1} was lost or changed`),
  );
  return [...gaps, ...rewritten];
}

/** Of each of these there is one at most with the same name. */
function doubles(events: readonly SessionEvent[]): string[] {
  const names = events.flatMap((event) => nameOf(event) ?? []);
  return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `doubled: ${name}`);
}

function nameOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "session.opened":
    case "context.compacted":
      return event.type;
    case "turn.started":
    case "turn.ended":
      return `${event.type} ${event.turnId}`;
    case "message.completed":
      return `${event.type} ${event.text}`; // the model never says the same twice
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

/** The same is said, asked and done as without a kill; only what was lost may have another outcome. */
function storyFaults(played: Played, whole: Played): string[] {
  const { events } = endOf(played);
  const [expected, got] = [endOf(whole).events, events].map(outlineOf);
  const faults = isDeepStrictEqual(expected, got) ? [] : [`the story went otherwise: ${JSON.stringify(got)}`];
  const usage = of(events, "usage.reported").length - of(endOf(whole).events, "usage.reported").length;
  if (usage !== 0) faults.push(`usage was reported ${usage} times more`);
  const asked = JSON.stringify(played.requests.map(({ request }) => request.body));
  const unknown = unknownIn(events);
  if (unknown.length > 0 && !asked.includes("may or may not have happened")) faults.push("the model was not told");
  if (unknown.length > 2 * (played.lives.length - 1)) faults.push(`unknown: ${unknown.join(", ")}`); // at most two run at once
  return faults;
}

/** Calls that run beside one another begin and end in any order. */
function outlineOf(events: readonly SessionEvent[]): { lines: string[]; calls: string[] } {
  const about = events.filter((event) => !(event.type === "notice" && event.code === "turn_resumed"));
  const isOfCall = ({ type }: SessionEvent) => /^(tool|permission)\.|^input\.queued/.test(type);
  const calls = about.filter(isOfCall).map((event) => `${event.type} ${"toolId" in event ? event.toolId : ""}`);
  return { lines: transcript(about.filter((event) => !isOfCall(event))), calls: calls.sort() };
}

/** A reply that was journalled is not asked for again, and for each kill one request at most is sent once more. */
function requestFaults({ requests, remains, lives }: Played): string[] {
  const count = (label: Label, from = 0) => requests.filter((one) => one.label === label && one.life >= from).length;
  const labels = Object.keys(ASKED) as Label[];
  const extra = labels.reduce((sum, label) => sum + count(label) - ASKED[label], 0);
  const wrong = labels.filter((label) => count(label) < ASKED[label]).map((label) => `${label} was not asked for`);
  if (extra > lives.length - 1) wrong.push(`${extra} requests too many`);
  remains.slice(0, -1).forEach((before, life) => {
    for (const entry of before.journal.filter(({ key, finished }) => finished && key.kind === "model")) {
      const again = count(labelOfEntry(entry, before), life + 1);
      const wanted = isFailure(entry) ? lives.length - life - 1 : 0; // each later life may try again
      if (again > wanted) wrong.push(`${entry.key.step} ${entry.key.id} was journalled and asked for again`);
    }
  });
  return wrong;
}

function labelOfEntry({ key: { step, id, turnId } }: JournalEntry, { events }: Remains): Label {
  if (of(events, "turn.started")[0]?.turnId !== turnId) return "second";
  return id.startsWith("summary") ? "summary" : (`step ${step}` as Label);
}

function runFaults({ remains, lives }: Played): string[] {
  const { events, runs } = remains.at(-1) ?? { events: [], runs: [] };
  const times = (run: string, from = 0) => runs.slice(from).filter((line) => line === run).length;
  const lost = new Set(unknownIn(events).map((toolId) => runOf(events, toolId)));
  const wrong = ONCE.filter((run) => times(run) > 1 || (times(run) === 0 && !lost.has(run))).map(
    (run) => `${run} ran ${times(run)} times`,
  );
  wrong.push(
    ...REPEATABLE.filter((run) => times(run) < 1 || times(run) > lives.length).map(
      (run) => `${run} ran ${times(run)} times`,
    ),
  );
  wrong.push(...REPEATABLE.filter((run) => lost.has(run)).map((run) => `${run} may run again, and is unknown`));
  for (const before of remains.slice(0, -1)) {
    for (const { key } of before.journal.filter(({ key, finished }) => finished && key.kind === "tool")) {
      const run = runOf(before.events, key.id);
      if (times(run, before.runs.length) > 0) wrong.push(`${run} was journalled and ran again`);
    }
  }
  return wrong;
}

/** The line that a call writes. */
function runOf(events: readonly SessionEvent[], toolId: string): string {
  const started = of(events, "tool.started").find((event) => event.toolId === toolId);
  const id = (started?.input as { id?: string } | undefined)?.id ?? toolId;
  return `${started?.name} ${id}`;
}

function of<Type extends SessionEvent["type"]>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}
