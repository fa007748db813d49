/** The HTTP door: listens, lets in who may come, and closes without breaking off what was begun. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { RookeryError } from "../../domain/index.ts";
import { DisposeStack, ServerConnections } from "../../stdx/index.ts";
import { listAgents } from "./agents.ts";
import type { Door } from "./door.ts";
import { Driving } from "./driving.ts";
import { openEntrance, type Times } from "./entrance.ts";
import { bracketed } from "./guard.ts";
import { Metrics } from "./metrics.ts";
import { Once } from "./once.ts";
import { announceServer, refuseSecond } from "./running.ts";
import type { Served } from "./served.ts";
import { Streams } from "./stream/streams.ts";
import { checkToken, readOrMakeToken } from "./token.ts";
import { writeLine, type Log } from "./visit.ts";

export interface HttpOptions {
  readonly host?: string | undefined;
  /** 0 for any that is free. */
  readonly port?: number | undefined;
  /** That of the home if not said. */
  readonly token?: string | undefined;
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** More names by which it may be called. */
  readonly allowHosts?: readonly string[] | undefined;
  /** Is given one line of JSON at a time. */
  readonly log?: Log | undefined;
  /** Closes it. */
  readonly signal?: AbortSignal | undefined;
  readonly times?: Partial<Times> | undefined;
}

export interface HttpDoor extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** Is it heard by other machines? */
  readonly exposed: boolean;
  /** Resolves when everything that was begun has ended, or was given its time. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 7433;
const TIMES: Times = {
  heartbeat: 15_000,
  headers: 10_000,
  request: 60_000,
  stall: 120_000,
  grace: 10_000,
  patience: 60_000,
};

/** Rejects with `server_running`, `port_unavailable`, `unauthorized` where the token's file is not safe, or `input_invalid`. */
export async function serveHttp(served: Served, options: HttpOptions): Promise<HttpDoor> {
  const { host = "127.0.0.1", port = DEFAULT_PORT, version, env, allowHosts = [], log = () => undefined } = options;
  const times = { ...TIMES, ...options.times };
  refuseSecond(served.home);
  const token = options.token === undefined ? readOrMakeToken(served.home) : checkToken(options.token);
  await using opening = new DisposeStack();
  const door: Door = {
    served,
    token,
    version,
    startedAt: new Date().toISOString(),
    driving: opening.use(new Driving(served)),
    streams: new Streams(times.heartbeat),
    connections: new ServerConnections(),
    once: new Once(),
    metrics: new Metrics(),
    patienceMs: times.patience,
    agents: (query) => listAgents(query, { env, home: served.home }),
  };
  const entrance = openEntrance(door, { guarded: { token, host, allowHosts }, log, times });
  const bound = await listen(entrance.server, host, port);
  opening.defer(() => entrance.close());
  const url = `http://${bracketed(reachable(host))}:${bound.port}`;
  opening.use(announceServer(served.home, { url, token, version }));
  const exposed = !isLoopback(host);
  writeLine(log, { message: "listening", url, version, pid: process.pid });
  if (exposed)
    writeLine(log, { level: "warning", message: `${host} can be reached by other machines, without encryption` });
  const owned = opening.move();
  let over: Promise<void> | undefined;
  const close = (): Promise<void> => {
    options.signal?.removeEventListener("abort", onAbort);
    return (over ??= owned[Symbol.asyncDispose]());
  };
  const onAbort = (): void =>
    void close().catch((error: unknown) => writeLine(log, { level: "error", error: String(error) }));
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  return { url, port: bound.port, token, exposed, close, [Symbol.asyncDispose]: close };
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
      const why = code === "EACCES" ? "may not be used by this account" : "is in use";
      const fix = "give another with --port, or 0 for any that is free";
      throw new RookeryError("port_unavailable", `port ${port} of ${host} ${why}: ${fix}`, { cause });
    }
    const fix = "give an address of this machine with --host, and a port up to 65535";
    throw new RookeryError("input_invalid", `cannot listen on ${host}, port ${port}: ${fix}`, { cause });
  }
}

/** Where commands of this machine find it. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
