/** `rookery sessions show`: prints the state of a session, its last turns, and how to answer its requests. */
import { formatGrant, listGrants } from "../../domain/command-prefix.ts";
import { emptyState, type SessionState, sessionStatus } from "../../domain/state.ts";
import { shortId } from "../../domain/ids.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import type { SessionSummary } from "../../domain/summary.ts";
import { isDriven } from "../../session/lease.ts";
import { loadState } from "../../session/open.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns, formatLocalTime } from "../format.ts";
import { withCommandPrefix, print, printJson, terminalWidth } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { countOption, isSet } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { pendingSessionRequests } from "../run/pending-request.ts";
import { formatUsageFacts } from "../transcript/usage-facts.ts";
import { findSession } from "./find.ts";
import { resumeSessionCommand, canContinueTurn } from "./resume-command.ts";
import { formatPendingRequest } from "./format-request.ts";
import { printTranscript } from "./print-transcript.ts";

const DEFAULT_TURNS = 5;

export async function showSessionCommand(call: CommandCall): Promise<ExitCode> {
  const { io, args: [named = ""], options } = call; // prettier-ignore
  if (isSet(options, "events")) return (await import("./events.ts")).sessionEventsCommand(call);
  const turns = countOption(options, "last", 1) ?? DEFAULT_TURNS;
  await using rookery = await openRookeryAnywhere(io);
  const { store } = rookery;
  const summary = await findSession(store, named, io);
  const { id } = summary;
  if (isSet(options, "json")) {
    const state = await loadState(store, id);
    await printJson(io, { ...state, status: sessionStatus(state) });
    return EXIT.done;
  }
  const isFolded = !isLongAndIdle(summary);
  const state = isFolded ? await loadState(store, id) : toState(summary);
  const left = state.turn !== undefined && !(await isDriven(store, id, systemClock));
  const children = (await store.list({ parent: id })).filter(({ depth }) => depth !== undefined);
  await print(
    io,
    withCommandPrefix(io, formatSessionFacts(state, { left, children, isFolded, width: terminalWidth(io.stdout) })),
  );
  await printTranscript(io, store, summary, isSet(options, "all") ? undefined : turns);
  const isLost = left && !canContinueTurn(state); // the agent that asked is gone and cannot get an answer
  const requests = isLost ? [] : await pendingSessionRequests(store, state);
  const commands = requests.map((asked) => formatPendingRequest(id, asked));
  await print(io, withCommandPrefix(io, commands.join("")));
  return EXIT.done;
}

/** Folding a longer log takes most of the time of the command. */
const MAX_FOLDED_EVENTS = 20_000;

function isLongAndIdle({ head, status, waitingFor }: SessionSummary): boolean {
  return head > MAX_FOLDED_EVENTS && (status === "idle" || status === "closed") && waitingFor.length === 0;
}

/** What the summary contains for a session without a turn. */
function toState({ lastOutcome: _, parkedUntil: __, ...summary }: SessionSummary): SessionState {
  const { id, depth = 0, usage = NO_USAGE, status } = summary;
  const { model, title, parent, task } = summary;
  return { ...emptyState(id), ...summary, model, title, parent, task, depth, usage, closed: status === "closed" };
}

interface ShownFacts {
  readonly left: boolean;
  readonly children: readonly SessionSummary[];
  /** False if only the summary was read, which has no permissions. */
  readonly isFolded: boolean;
  readonly width: number | undefined;
}

function formatSessionFacts(state: SessionState, { left, children, isFolded, width }: ShownFacts): string {
  const { lastOutcome } = state;
  const why = lastOutcome !== undefined && "message" in lastOutcome ? `: ${toSingleLine(lastOutcome.message)}` : "";
  const facts: [string, string | undefined][] = [
    ["session", `${shortId(state.id)} (${state.id})`],
    ["title", state.title],
    [state.depth > 0 ? "child of" : "fork of", state.parent && shortId(state.parent)],
    ["status", formatSessionStatus(state, left)],
    ["agent", state.agent],
    ["backend", state.backend],
    ["model", state.model],
    ["folder", state.cwd],
    ["permissions", isFolded ? state.permissions : undefined],
    ["always allowed", listGrants(state).map(formatGrant).join(", ") || undefined],
    ["opened", formatLocalTime(state.createdAt)],
    ["last event", `${formatLocalTime(state.updatedAt)} (${state.head})`],
    ["turns", String(state.turns)],
    ["last outcome", lastOutcome === undefined ? undefined : `${lastOutcome.status}${why}`],
    ["queued inputs", state.queue.length === 0 ? undefined : String(state.queue.length)],
    ["used", formatUsageFacts(state.usage).join(" · ") || undefined],
    ...usageByAgentRows(state),
    ...children.toReversed().map((child): [string, string] => ["child", formatChild(child)]),
  ];
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, toSingleLine(value)]]));
  return formatColumns(rows, width);
}

function formatChild({ id, status, lastOutcome, title = "" }: SessionSummary): string {
  return `${shortId(id)} ${status === "idle" ? (lastOutcome ?? status) : status} ${title}`;
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
  return agents.map(([agent, usage]) => [
    `used by ${toSingleLine(agent)}`,
    formatUsageFacts(usage).join(" · ") || "not counted",
  ]);
}
