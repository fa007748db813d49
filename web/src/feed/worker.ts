/** The shared worker of all pages of this browser: one `LogFeed` per key. */
import { createClient } from "../../../src/client/index.ts";
import { LogFeed } from "./log-feed.ts";
import type { PageMessage } from "./messages.ts";

const feeds = new Map<string, LogFeed>();

function feedOf(key: string): LogFeed {
  const known = feeds.get(key);
  if (known !== undefined) return known;
  const feed = new LogFeed(createClient({ url: location.origin, headers: { "x-rookery-page-key": key } }));
  for (const old of feeds.values()) old.close(); // a new key replaces the old one
  feeds.clear();
  feeds.set(key, feed);
  return feed;
}

addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  let leave = (): void => undefined;
  const send = (message: unknown): void => port.postMessage(message);
  port.onmessage = ({ data }: MessageEvent<PageMessage>) => {
    leave();
    if (data.type === "leave") return;
    const feed = feedOf(data.key);
    feed.join(send);
    leave = () => feed.leave(send);
  };
});
