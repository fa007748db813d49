/** The feed as the screens use it: events in order, and whether the page is connected. */
import { createSignal, type Accessor } from "solid-js";
import type { FeedEvent } from "../../../src/client/index.ts";
import { connectClient } from "../client.ts";
import { LogFeed } from "./log-feed.ts";
import type { FeedMessage, FeedStatus, PageMessage } from "./messages.ts";

export interface Feed {
  readonly status: Accessor<FeedStatus>;
  /** Calls the listener with every group of events from now on. Returns a function that ends it. */
  listen(listener: (events: readonly FeedEvent[]) => void): () => void;
  /** Calls the listener with the id of every session that is deleted while the page is connected. */
  listenToDeletions(listener: (sessionId: string) => void): () => void;
}

export function openFeed(key: string): Feed {
  const [status, setStatus] = createSignal<FeedStatus>({ state: "connecting", log: 0 });
  const listeners = new Set<(events: readonly FeedEvent[]) => void>();
  const deletionListeners = new Set<(sessionId: string) => void>();
  const receive = (message: FeedMessage): void => {
    if (message.type === "status") setStatus(message.status);
    else if (message.type === "events") for (const listener of listeners) listener(message.events);
    else for (const listener of deletionListeners) listener(message.sessionId);
  };
  joinFeed(key, receive);
  return {
    status,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    listenToDeletions(listener) {
      deletionListeners.add(listener);
      return () => void deletionListeners.delete(listener);
    },
  };
}

/** Browsers without shared workers, such as Chrome on Android, follow the log in each page. */
function joinFeed(key: string, receive: (message: FeedMessage) => void): void {
  if (typeof SharedWorker === "undefined") return new LogFeed(connectClient(key)).join(receive);
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "rookery" });
  const send = (message: PageMessage): void => worker.port.postMessage(message);
  worker.port.onmessage = ({ data }: MessageEvent<FeedMessage>) => receive(data);
  send({ type: "join", key });
  addEventListener("pagehide", () => send({ type: "leave" }));
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload(); // events were missed while the browser kept the page
  });
}
