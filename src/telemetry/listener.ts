/** A small HTTP server for a process that has no other one, such as a worker: metrics, health and readiness. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { messageOf, RookeryError } from "../domain/index.ts";
import type { MetricFamily } from "./meter.ts";
import { formatPrometheus, PROMETHEUS_TYPE } from "./prometheus.ts";

export interface MetricsListenerOptions {
  /** Default: 127.0.0.1. Nothing asks for a token: metrics have no content, but names of agents, models and tools. */
  readonly host?: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
  readonly collect: () => Promise<readonly MetricFamily[]>;
  /** Resolves with a reason if the process should get no more work. */
  readonly findProblem: () => Promise<string | undefined>;
}

export interface MetricsListener extends AsyncDisposable {
  readonly url: string;
}

/** Beyond this number the oldest connection is closed. */
const MAX_CONNECTIONS = 32;
const TIMEOUT_MS = 10_000;

/** Rejects with `port_unavailable`. */
export async function serveMetrics(options: MetricsListenerOptions): Promise<MetricsListener> {
  const { host = "127.0.0.1", port, collect, findProblem } = options;
  const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (request, response) => {
    const path = (request.url ?? "").split("?")[0];
    request.resume();
    if (!isNamedLocally(request)) return respond(response, 403, "text/plain", "");
    if (request.method !== "GET" && request.method !== "HEAD") return respond(response, 405, "text/plain", "");
    const answer = async (): Promise<void> => {
      if (path === "/metrics") return respond(response, 200, PROMETHEUS_TYPE, formatPrometheus(await collect()));
      if (path === "/v1/health") return respond(response, 200, "application/json", '{"ok":true}');
      if (path !== "/v1/ready") return respond(response, 404, "text/plain", "");
      const isReady = (await findProblem()) === undefined;
      respond(response, isReady ? 200 : 503, "application/json", JSON.stringify({ ready: isReady }));
    };
    answer().catch(() => respond(response, 500, "text/plain", ""));
  });
  keepNewest(server);
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    const message = `cannot serve metrics on port ${port} of ${host} (${messageOf(cause)}): choose another port`;
    throw new RookeryError("port_unavailable", message, { cause });
  }
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${bound.family === "IPv6" ? `[${bound.address}]` : bound.address}:${bound.port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Anyone may connect, so connections that send or read nothing must not keep others out. */
function keepNewest(server: Server): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (oldest === undefined || open.size <= MAX_CONNECTIONS) return;
    open.delete(oldest);
    oldest.destroy();
  });
}

/** On loopback, a web page could get the metrics with a host name of its own that resolves to 127.0.0.1. */
function isNamedLocally({ headers, socket }: IncomingMessage): boolean {
  const isLoopback = /^(?:::ffff:)?127\.|^::1$/.test(socket.localAddress ?? "");
  return !isLoopback || /^(?:localhost|127\.[\d.]{1,12}|\[::1\])(?::\d{1,5})?$/i.test(headers.host ?? "localhost");
}

function respond(response: ServerResponse, status: number, type: string, body: string): void {
  if (response.headersSent) return;
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}
