/**
 * The requests that wait for an answer, in all sessions: those of a snapshot, and those of later events in the feed.
 */
import { createMemo, createSignal, onCleanup, type Accessor } from "solid-js";
import type { components } from "../../../src/client/index.ts";
import type { EventOf } from "../../../src/domain/events.ts";
import { readWhenConnected } from "../feed/read-when-connected.ts";
import { dataOf, messageOf } from "../request.ts";
import { useServer } from "../server.tsx";

export type OpenRequest = EventOf<"permission.requested"> | EventOf<"question.asked">;

export interface InboxModel {
  /** Oldest first. */
  readonly requests: Accessor<readonly OpenRequest[]>;
  readonly isLoaded: Accessor<boolean>;
  readonly problem: Accessor<string | undefined>;
}

type Waiting = components["schemas"]["WaitingRequest"];

export function openInbox(): InboxModel {
  const { client, feed, roster } = useServer();
  const [known, setKnown] = createSignal<ReadonlyMap<string, OpenRequest>>(new Map());
  const [isLoaded, setLoaded] = createSignal(false);
  const [problem, setProblem] = createSignal<string>();

  const add = (requests: readonly OpenRequest[]): void => {
    if (requests.length === 0) return;
    setKnown((before) => new Map([...before, ...requests.map((one) => [keyOfRequest(one), one] as const)]));
  };
  async function load(): Promise<void> {
    try {
      const { requests } = await dataOf(client.GET("/v1/requests"));
      add(requests.map(toEvent));
      setProblem(undefined);
      setLoaded(true);
    } catch (error) {
      setProblem(messageOf(error));
    }
  }
  onCleanup(
    feed.listen((events) => {
      const asked = events.map(({ event }) => event);
      add(asked.filter((event) => event.type === "permission.requested" || event.type === "question.asked"));
    }),
  );
  readWhenConnected(feed, { read: () => void load(), hasFailed: () => problem() !== undefined });
  // The summaries say which requests are open, so that an answer from elsewhere removes a request here.
  const requests = createMemo(() =>
    [...known().values()]
      .filter(({ sessionId, requestId }) => roster.sessions[sessionId]?.waitingFor.includes(requestId) === true)
      .sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at)),
  );
  return { requests, isLoaded, problem };
}

export function keyOfRequest({ sessionId, requestId }: OpenRequest): string {
  return `${sessionId} ${requestId}`;
}

/** The event that a listed request was made from, as far as a card shows it. */
function toEvent({ kind, toolKind, title, tool, ...rest }: Waiting): OpenRequest {
  const envelope = { ...rest, seq: 0 };
  if (kind === "question") return { ...envelope, type: "question.asked", message: title };
  const call = { toolId: "", tool: tool ?? "", title, kind: toolKind ?? "other", input: rest.input };
  return { ...envelope, ...call, type: "permission.requested" };
}
