/** `rookery sessions show`: prints the state of a session and how to answer its requests. */
import { type SessionState, sessionStatus } from "../../domain/state.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { isDriven } from "../../session/lease.ts";
import { loadState } from "../../session/open.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns, formatLocalTime } from "../format.ts";
import { withCommandPrefix, print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { pendingSessionRequests } from "../run/pending-request.ts";
import { formatUsage } from "../transcript/turn-view.ts";
import { findSession } from "./find.ts";
import { resumeSessionCommand, canContinueTurn } from "./resume-command.ts";
import { formatPendingRequest } from "./format-request.ts";

export async function showSessionCommand({ io, args: [named = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const { id } = await findSession(rookery.store, named, io);
  const state = await loadState(rookery.store, id);
  if (isSet(options, "json")) await printJson(io, { ...state, status: sessionStatus(state) });
  else {
    const left = state.turn !== undefined && !(await isDriven(rookery.store, id, systemClock));
    const isLost = left && !canContinueTurn(state); // the agent that asked is gone and cannot get an answer
    const requests = isLost
      ? []
      : (await pendingSessionRequests(rookery.store, state)).map((asked) => formatPendingRequest(id, asked));
    const children = (await rookery.store.list({ parent: id })).filter(({ depth }) => depth !== undefined);
    await print(io, withCommandPrefix(io, formatSessionFacts(state, left, children) + requests.join("")));
  }
  return EXIT.done;
}

function formatSessionFacts(state: SessionState, left: boolean, children: readonly SessionSummary[]): string {
  const { lastOutcome } = state;
  const why = lastOutcome !== undefined && "message" in lastOutcome ? `: ${toSingleLine(lastOutcome.message)}` : "";
  const facts: [string, string | undefined][] = [
    ["session", state.id],
    ["title", state.title],
    [state.depth > 0 ? "child of" : "fork of", state.parent],
    ["status", formatSessionStatus(state, left)],
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
    ["used", state.usage === NO_USAGE ? undefined : formatUsage(state.usage).join(" · ")],
    ...usageByAgentRows(state),
    ...children.toReversed().map((child): [string, string] => ["child", formatChild(child)]),
  ];
  return formatColumns(facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, toSingleLine(value)]])));
}

function formatChild({ id, status, lastOutcome, title = "" }: SessionSummary): string {
  return `${id} ${status === "idle" ? (lastOutcome ?? status) : status} ${title}`;
}

/** `left`: no process drives the session, so a parked turn continues only after someone opens it. */
function formatSessionStatus(state: SessionState, left: boolean): string {
  const status = sessionStatus(state);
  const until = state.turn?.parkedUntil;
  const resumeCommand = resumeSessionCommand(state);
  if (status === "parked" && until !== undefined) {
    return `parked until ${formatLocalTime(until)}${left ? `; no process drives it; continue it with: ${resumeCommand}` : ""}`;
  }
  return left ? `interrupted (was ${status}); continue it with: ${resumeCommand}` : status;
}

/** Empty for a session with one agent. */
function usageByAgentRows({ usageByAgent }: SessionState): [string, string][] {
  const agents = Object.entries(usageByAgent);
  if (agents.length < 2) return [];
  return agents.map(([agent, usage]) => [`used by ${toSingleLine(agent)}`, formatUsage(usage).join(" · ")]);
}
