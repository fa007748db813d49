/** `rookery sessions show`: the state of a session, and how to answer what it waits for. */
import { applyAll, emptyState, type Request, type SessionState, statusOf } from "../../domain/state.ts";
import { MAX_PAGE, type SessionStore } from "../../domain/store.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { columns } from "../format.ts";
import { print, printJson } from "../io.ts";
import { openLog } from "../log.ts";
import { isSet } from "../options.ts";
import { oneLine } from "../printable.ts";
import { describe } from "../run/asker.ts";
import { usageWords } from "../run/view.ts";
import { findSession } from "./find.ts";

export async function showSession({ io, args: [named = ""], options }: Call): Promise<ExitCode> {
  await using rookery = await openLog(io);
  const { id } = await findSession(rookery.store, named);
  const state = await fold(rookery.store, id);
  if (isSet(options, "json")) await printJson(io, { ...state, status: statusOf(state) });
  else await print(io, factsOf(state) + waitingFor(state));
  return EXIT.done;
}

async function fold(store: SessionStore, sessionId: string): Promise<SessionState> {
  for (let state = emptyState(sessionId); ;) {
    const { events } = await store.read({ sessionId, after: state.head, limit: MAX_PAGE });
    if (events.length === 0) return state;
    state = applyAll(state, events);
  }
}

function factsOf(state: SessionState): string {
  const { lastOutcome } = state;
  const why = lastOutcome !== undefined && "message" in lastOutcome ? `: ${oneLine(lastOutcome.message)}` : "";
  const facts: [string, string | undefined][] = [
    ["session", state.id],
    ["title", state.title],
    ["status", statusOf(state)],
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
    ["used", usageWords(state.usage).join(" · ")],
  ];
  return columns(facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, oneLine(value)]])));
}

function waitingFor(state: SessionState): string {
  return state.requests
    .filter(({ answer }) => answer === undefined)
    .map((request) => `\nwaiting for ${words(request)}\n  ${commandsOf(state.id, request).join("\n  ")}\n`)
    .join("");
}

function words({ tool, title }: Request): string {
  return tool === undefined ? oneLine(title) : describe(tool, title);
}

function commandsOf(sessionId: string, { requestId, tool }: Request): string[] {
  const answers = tool === undefined ? ["accept --content '{…}'", "decline", "cancel"] : ["allow", "always", "deny"];
  return answers.map((answer) => `rookery answer ${sessionId} ${requestId} ${answer}`);
}
