/** `rookery sessions show`: the state of a session, and how to answer what it waits for. */
import { type SessionState, statusOf } from "../../domain/state.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { isDriven } from "../../session/lease.ts";
import { loadState } from "../../session/open.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { columns, localTime } from "../format.ts";
import { asTyped, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet } from "../options.ts";
import { oneLine } from "../printable.ts";
import { openRequests } from "../run/asked.ts";
import { usageWords } from "../run/view.ts";
import { findSession } from "./find.ts";
import { commandToGoOn, goesOnInside } from "./going-on.ts";
import { requestText } from "./request.ts";

export async function showSession({ io, args: [named = ""], options }: Call): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const { id } = await findSession(rookery.store, named);
  const state = await loadState(rookery.store, id);
  if (isSet(options, "json")) await printJson(io, { ...state, status: statusOf(state) });
  else {
    const left = state.turn !== undefined && !(await isDriven(rookery.store, id, systemClock));
    const isLost = left && !goesOnInside(state); // whoever asked is gone, and hears no answer
    const requests = isLost ? [] : (await openRequests(rookery.store, state)).map((asked) => requestText(id, asked));
    const children = (await rookery.store.list({ parent: id })).filter(({ depth }) => depth !== undefined);
    await print(io, asTyped(io, factsOf(state, left, children) + requests.join("")));
  }
  return EXIT.done;
}

function factsOf(state: SessionState, left: boolean, children: readonly SessionSummary[]): string {
  const { lastOutcome } = state;
  const why = lastOutcome !== undefined && "message" in lastOutcome ? `: ${oneLine(lastOutcome.message)}` : "";
  const facts: [string, string | undefined][] = [
    ["session", state.id],
    ["title", state.title],
    [state.depth > 0 ? "child of" : "fork of", state.parent],
    ["status", statusWords(state, left)],
    ["agent", state.agent],
    ["backend", state.backend],
    ["model", state.model],
    ["folder", state.cwd],
    ["permissions", state.permissions],
    ["always allowed", state.grants.join(", ") || undefined],
    ["opened", state.createdAt],
    ["last event", `${state.updatedAt} (${state.head})`],
    ["turns", String(state.turns)],
    ["last outcome", lastOutcome === undefined ? undefined : `${lastOutcome.status}${why}`],
    ["queued inputs", state.queue.length === 0 ? undefined : String(state.queue.length)],
    ["used", state.usage === NO_USAGE ? undefined : usageWords(state.usage).join(" · ")],
    ...usedByEach(state),
    ...children.toReversed().map((child): [string, string] => ["child", childWords(child)]),
  ];
  return columns(facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, oneLine(value)]])));
}

function childWords({ id, status, lastOutcome, title = "" }: SessionSummary): string {
  return `${id} ${status === "idle" ? (lastOutcome ?? status) : status} ${title}`;
}

/** `left`: no process drives it, and a turn that waits for a time waits on only if someone opens the session. */
function statusWords(state: SessionState, left: boolean): string {
  const status = statusOf(state);
  const until = state.turn?.parkedUntil;
  const goOn = commandToGoOn(state);
  if (status === "parked" && until !== undefined) {
    return `parked until ${localTime(until)}${left ? `; nobody waits with it; go on: ${goOn}` : ""}`;
  }
  return left ? `interrupted (was ${status}); go on: ${goOn}` : status;
}

/** Where there was more than one agent. */
function usedByEach({ usageByAgent }: SessionState): [string, string][] {
  const agents = Object.entries(usageByAgent);
  if (agents.length < 2) return [];
  return agents.map(([agent, usage]) => [`used by ${oneLine(agent)}`, usageWords(usage).join(" · ")]);
}
