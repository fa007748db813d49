/** The metrics of the HTTP server: its streams, connections and sessions, beside its requests, its process and the cluster. */
import type { MetricFamily } from "../../telemetry/index.ts";
import type { HandlerContext } from "./handler-context.ts";

/** Adds the figures that parts of the server keep. Call it once. */
export function measureServer({
  metrics: { meter },
  version,
  streams,
  connections,
  sessions,
  requests,
}: HandlerContext): void {
  meter.gauge({ name: "rookery.info", help: "The version of the server." }, () => [{ labels: { version }, value: 1 }]);
  meter.gauge({ name: "rookery.streams", help: "Open event streams." }, () => streams.count);
  meter.gauge(
    { name: "rookery.stream.logs", help: "Logs that the server follows for open streams." },
    () => streams.channels,
  );
  meter.observedCounter({ name: "rookery.stream.events", help: "Events sent in streams." }, () => streams.sentEvents);
  meter.observedCounter(
    { name: "rookery.stream", unit: "By", help: "Bytes sent in streams." },
    () => streams.sentBytes,
  );
  meter.gauge(
    { name: "rookery.connections", help: "Open connections, by whether the client has sent the token." },
    () => [
      { labels: { authenticated: "true" }, value: connections.authenticated },
      { labels: { authenticated: "false" }, value: connections.unauthenticated },
    ],
  );
  meter.gauge(
    { name: "rookery.driven_sessions", help: "Sessions that this server drives for HTTP clients." },
    () => sessions.count,
  );
  meter.gauge(
    { name: "rookery.changes_underway", help: "Running requests that change something." },
    () => requests.busy,
  );
}

/** Everything that this server knows: itself, its process, and the cluster. */
export async function collectMetrics({ metrics, rookery, cluster }: HandlerContext): Promise<MetricFamily[]> {
  const ofCluster = await cluster.collect();
  return [...metrics.meter.collect(), ...(rookery.telemetry?.collect() ?? []), ...ofCluster];
}
