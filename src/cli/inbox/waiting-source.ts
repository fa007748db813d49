/** Reads and answers the requests that wait for a person, in the log of this machine or through a named server. */
import { createClient } from "../../client/index.ts";
import { RookeryError } from "../../domain/errors.ts";
import { shortId } from "../../domain/ids.ts";
import { isDriven } from "../../session/lease.ts";
import type { Answer } from "../../session/method-types.ts";
import { loadState } from "../../session/open.ts";
import { listWaitingRequests, type WaitingRequest } from "../../session/waiting-requests.ts";
import { systemClock } from "../../stdx/clock.ts";
import type { OptionValues } from "../command.ts";
import type { Io } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { textOption } from "../options.ts";
import { shortenPaths } from "../relative-paths.ts";
import { toSingleLine } from "../sanitize.ts";
import { findSessionOrTask } from "../sessions/find-session-or-task.ts";
import { canContinueTurn, resumeSessionCommand } from "../sessions/resume-command.ts";
import { findServerAddress, type ServerAddress } from "../task/open-service.ts";
import { readServerReply } from "../task/server-reply.ts";

export interface WaitingSource extends AsyncDisposable {
  /** Oldest first. */
  list(): Promise<readonly WaitingRequest[]>;
  /** Returns the request with the paths in its title relative to the working directory, to show it. */
  shorten(request: WaitingRequest): Promise<WaitingRequest>;
  /** Finds the requests of a session or task. Rejects if there is none of that name. */
  select(all: readonly WaitingRequest[], named: string): Promise<NamedRequests>;
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
  /** Says how to continue a session that no process drives. Undefined if one does. */
  resumeHint(sessionId: string): Promise<string | undefined>;
}

export interface NamedRequests {
  readonly requests: readonly WaitingRequest[];
  /** Undefined for a task. */
  readonly sessionId?: string;
}

/** A server of this machine has the same log, so only a named server is asked. */
export async function openWaitingSource(io: Io, options: OptionValues): Promise<WaitingSource> {
  const isNamed = (textOption(options, "server") ?? io.env["ROOKERY_SERVER"] ?? "") !== "";
  const server = isNamed ? findServerAddress(io, options) : undefined;
  return server === undefined ? openLocalSource(io) : openRemoteSource(server);
}

async function openLocalSource(io: Io): Promise<WaitingSource> {
  const rookery = await openRookeryAnywhere(io);
  const { store } = rookery;
  return {
    list: () => listWaitingRequests(store),
    async shorten(request) {
      const { cwd } = (await store.summary(request.sessionId)) ?? {};
      return { ...request, title: shortenPaths(request.title, cwd) };
    },
    async select(all, named) {
      const found = await findSessionOrTask(rookery, named, io);
      if ("task" in found) return { requests: all.filter(({ task }) => task === found.task.id) };
      const { id } = found.session;
      return { sessionId: id, requests: all.filter(({ sessionId }) => sessionId === id) };
    },
    answer: (sessionId, requestId, answer) => rookery.answer(sessionId, requestId, answer),
    async resumeHint(sessionId) {
      if (await isDriven(store, sessionId, systemClock)) return undefined;
      const state = await loadState(store, sessionId);
      const unheard = canContinueTurn(state) ? "" : ", so the answer has no effect";
      return `no process drives the session now${unheard}; continue it with: ${resumeSessionCommand(state)}`;
    },
    [Symbol.asyncDispose]: () => rookery.close(),
  };
}

/** The server drives its sessions itself. */
function openRemoteSource(server: ServerAddress): WaitingSource {
  const client = createClient(server);
  return {
    async list() {
      const { requests } = (await readServerReply(client, client.GET("/v1/requests"))) as {
        requests: WaitingRequest[];
      };
      return requests;
    },
    shorten: async (request) => request, // the server does not say where its sessions work
    async select(all, named) {
      const isMeant = (id: string | undefined): boolean => id === named || id?.startsWith(named) === true;
      const found = all.filter(
        ({ sessionId, task }) => isMeant(task) || isMeant(sessionId) || isMeant(shortId(sessionId)),
      );
      const exact = found.filter(({ task }) => task === named);
      if (found.length > 0) return { requests: exact.length > 0 ? exact : found };
      const what = `nothing is waiting for an answer in ${toSingleLine(named, 60)} on the server at ${server.url}`;
      throw new RookeryError("request_not_found", what);
    },
    async answer(id, requestId, answer) {
      const params = { path: { id, requestId } };
      await readServerReply(client, client.POST("/v1/sessions/{id}/requests/{requestId}", { params, body: answer }));
    },
    resumeHint: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
