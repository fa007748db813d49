/** Starts the HTTP server, and closes it after running requests have finished. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { RookeryError } from "../../domain/index.ts";
import type { Config } from "../../config/index.ts";
import { planTask } from "../../pool/index.ts";
import { DisposeStack, ServerConnections } from "../../stdx/index.ts";
import { ClusterMetrics, measureProcess } from "../../telemetry/index.ts";
import { listAgents } from "./agents.ts";
import type { HandlerContext } from "./handler-context.ts";
import { DrivenSessions } from "./driven-sessions.ts";
import { createHttpListener, type HttpTimeouts } from "./listener.ts";
import { toUrlHost } from "./guard.ts";
import { McpLogins } from "./mcp-logins.ts";
import { Metrics } from "./metrics.ts";
import { measureServer } from "./server-metrics.ts";
import { IdempotentRequests } from "./idempotent-requests.ts";
import { ServerReadiness } from "./readiness.ts";
import { requireReadyAgents, taskAgents } from "./required-agents.ts";
import { TaskMcp } from "./task-mcp.ts";
import { announceServer, refuseSecondServer } from "./running.ts";
import type { ServedRookery } from "./served-rookery.ts";
import { Streams } from "./stream/streams.ts";
import { parsePublicUrl } from "./page/public-url.ts";
import { PageResponder } from "./page/respond.ts";
import { Tickets, type Ticket } from "./page/tickets.ts";
import { checkToken, readOrMakeToken } from "./token.ts";
import { writeLogEntry, type WriteLogLine } from "./request-record.ts";

export interface HttpOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0 for any free port. Default: 7433. */
  readonly port?: number | undefined;
  /** Default: the token in the home directory. */
  readonly token?: string | undefined;
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory of requests without one. Default: `process.cwd()`. */
  readonly cwd?: string | undefined;
  /** Additional host names that clients may use. */
  readonly allowHosts?: readonly string[] | undefined;
  /** The URL under which browsers reach the page through a proxy, such as `https://rookery.example`. Its host is allowed. */
  readonly publicUrl?: string | undefined;
  /** Receives one line of JSON at a time. */
  readonly log?: WriteLogLine | undefined;
  /** Closes the server when it aborts. */
  readonly signal?: AbortSignal | undefined;
  readonly times?: Partial<HttpTimeouts> | undefined;
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** Whether other machines can reach the server. */
  readonly exposed: boolean;
  /** Makes a link that signs a browser in to the page, once and within a minute. */
  makeSignInLink(): Pick<Ticket, "expiresAt"> & { readonly url: string };
  /** Resolves when all running requests have finished or the grace period is over. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 7433;
const TIMES: HttpTimeouts = {
  heartbeat: 15_000,
  deletions: 5_000,
  headers: 10_000,
  request: 60_000,
  stall: 120_000,
  grace: 10_000,
  patience: 60_000,
};

/**
 * Rejects with `server_running`, `port_unavailable`, `unauthorized` if other users can read the token file, or
 * `input_invalid` for a bad host, port, token or public URL.
 */
export async function serveHttp(rookery: ServedRookery, options: HttpOptions): Promise<HttpServer> {
  const { host = "127.0.0.1", port = DEFAULT_PORT, version, env, allowHosts = [], log = () => undefined } = options;
  const times = { ...TIMES, ...options.times };
  refuseSecondServer(rookery.home);
  const token = options.token === undefined ? readOrMakeToken(rookery.home) : checkToken(options.token);
  const publicUrl = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl);
  await using opening = new DisposeStack();
  const tickets = new Tickets();
  let url = ""; // known after `listen`
  const defaultCwd = (): string => options.cwd ?? process.cwd();
  const startedAt = new Date().toISOString();
  const metrics = new Metrics();
  const agents: HandlerContext["agents"] = ({ cwd = defaultCwd() }) => listAgents({ cwd }, { env, home: rookery.home });
  const requireReady: HandlerContext["requireReady"] = ({ cwd = defaultCwd(), ...requirement }) =>
    requireReadyAgents({ ...requirement, cwd }, { env, pid: process.pid, startedAt });
  const context: HandlerContext = {
    rookery,
    token,
    version,
    startedAt,
    sessions: opening.use(new DrivenSessions(rookery)),
    streams: new Streams(rookery.store, { heartbeatMs: times.heartbeat, deletionCheckMs: times.deletions }),
    logins: opening.use(new McpLogins(rookery)),
    connections: new ServerConnections(),
    requests: new IdempotentRequests(),
    taskMcp: new TaskMcp({
      rookery,
      version,
      agents: (cwd) => agents(cwd === undefined ? {} : { cwd }),
      requireReady: async (request) => {
        if (rookery.sharedHost !== undefined) return; // workers run the tasks
        const taskRequest = (config: Config) => taskAgents(planTask(request, config.root, config));
        await requireReady({ cwd: request.cwd, worktree: true, agents: taskRequest });
      },
    }),
    metrics,
    cluster: new ClusterMetrics(rookery.store),
    readiness: new ServerReadiness(rookery.store),
    page: new PageResponder({
      tickets,
      token,
      isSecure: publicUrl?.isSecure === true,
      isProxied: publicUrl !== undefined,
    }),
    tickets,
    signInUrl: (ticket) => `${publicUrl?.origin ?? url}/sign-in?ticket=${ticket}`,
    slowWaitMs: times.patience,
    agents,
    requireReady,
  };
  measureServer(context);
  if (rookery.telemetry === undefined) opening.use(measureProcess(metrics.meter));
  const access = {
    token,
    host,
    allowHosts: publicUrl === undefined ? allowHosts : [...allowHosts, publicUrl.host],
    publicOrigin: publicUrl?.origin,
  };
  const listener = createHttpListener(context, { access, log, times });
  const bound = await listen(listener.server, host, port);
  opening.defer(() => listener.close());
  url = `http://${toUrlHost(toReachableHost(host))}:${bound.port}`;
  opening.use(announceServer(rookery.home, { url, token, version }));
  const exposed = !isLoopback(host);
  writeLogEntry(log, { message: "listening", url, version, pid: process.pid });
  if (exposed)
    writeLogEntry(log, {
      level: "warning",
      message: `${host} is reachable from other machines, and the connection is not encrypted`,
    });
  const owned = opening.move();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    options.signal?.removeEventListener("abort", onAbort);
    return (closing ??= owned[Symbol.asyncDispose]());
  };
  const onAbort = (): void =>
    void close().catch((error: unknown) => writeLogEntry(log, { level: "error", error: String(error) }));
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  const makeSignInLink: HttpServer["makeSignInLink"] = () => {
    const { ticket, expiresAt } = tickets.make();
    return { url: context.signInUrl(ticket), expiresAt };
  };
  return { url, port: bound.port, token, exposed, makeSignInLink, close, [Symbol.asyncDispose]: close };
}

/** Rejects with `port_unavailable` or `input_invalid`. */
async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  try {
    server.listen({ host, port });
    await once(server, "listening");
    return server.address() as AddressInfo;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE" || code === "EACCES") {
      const why = code === "EACCES" ? "requires more privileges" : "is in use";
      const fix = "choose another with --port, or 0 for any free port";
      throw new RookeryError("port_unavailable", `port ${port} of ${host} ${why}: ${fix}`, { cause });
    }
    const fix = "pass an address of this machine with --host and a port up to 65535 with --port";
    throw new RookeryError("input_invalid", `cannot listen on ${host}, port ${port}: ${fix}`, { cause });
  }
}

/** The address that clients on this machine can connect to. */
function toReachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
