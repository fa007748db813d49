/** Where requests come in: only who may, only as much as may, and none any more while the door closes. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { endConnection } from "../../stdx/index.ts";
import { closing, makeApp, refusalOf, type Bindings } from "./app.ts";
import type { Door } from "./door.ts";
import { guard, type Guarded } from "./guard.ts";
import { MAX_PROMPT_BODY } from "./input.ts";
import { Refusal, tooManyConnections, type Why } from "./problem.ts";
import { beginVisit, pathOf, type Log, type Visit } from "./visit.ts";

/** In milliseconds. */
export interface Times {
  readonly heartbeat: number;
  /** For a request's headers, and for all of it, to come. */
  readonly headers: number;
  readonly request: number;
  /** For a connection on which nothing moves although its peer could send or read. Longer than a heartbeat. */
  readonly stall: number;
  /** For running requests to end when the door closes. */
  readonly grace: number;
  /** For slow work, before its caller is told to ask again. */
  readonly patience: number;
}

export interface EntranceOptions {
  readonly guarded: Guarded;
  readonly log: Log;
  readonly times: Times;
}

export interface Entrance {
  readonly server: Server;
  /** Takes no more requests, ends the streams, and waits for the rest for as long as `grace` says. */
  close(): Promise<void>;
}

const LOOK_MS = 20;
const MAX_HEADER_BYTES = 16 * 1024;
/** Between two requests of one connection. In milliseconds. */
const KEEP_ALIVE_MS = 5_000;

export function openEntrance(door: Door, { guarded, log, times }: EntranceOptions): Entrance {
  const visits = new WeakMap<IncomingMessage, Visit>();
  const app = makeApp(door);
  const serve = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as Omit<Bindings, "visit">;
      return app.fetch(request, { incoming, outgoing, visit: visits.get(incoming) });
    },
    { overrideGlobalObjects: false },
  );
  const { connections } = door;
  let isClosing = false;
  const enter = (request: IncomingMessage, response: ServerResponse, admit = (): void => undefined): void => {
    if (request.socket.destroyed) return; // it was closed between two requests of one packet
    if (connections.isPipelining(request)) return void request.socket.destroy();
    const visit = beginVisit(request, response, { log, metrics: door.metrics });
    visits.set(request, visit);
    response.on("error", () => undefined); // a connection that was reset: its close is what counts
    response.once("close", connections.startRequest(request));
    try {
      if (isClosing) throw closing();
      if (guard(request, pathOf(request), guarded) && !connections.authenticate(request.socket))
        throw tooManyConnections();
      admit();
      void serve(request, response); // never rejects: what a route throws is answered
    } catch (error) {
      turnAway(request, response, refusalOf(error, visit.requestId), isClosing);
    }
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: times.headers,
      requestTimeout: times.request,
      connectionsCheckingInterval: Math.min(times.headers, 5_000),
      requireHostHeader: false, // the guard says it in a problem
      keepAlive: true,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    enter,
  );
  server.setTimeout(times.stall, (socket) => {
    const isWaitingForUs = connections.isBusy(socket) && socket.writableLength === 0;
    if (!isWaitingForUs) socket.destroy();
  });
  connections.watch(server);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    enter(request, response, () => {
      if (Number(request.headers["content-length"] ?? 0) <= MAX_PROMPT_BODY) response.writeContinue();
    });
  });
  server.on("clientError", refuseMalformed);
  return {
    server,
    async close() {
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      door.streams.close();
      const closeIdle = (): void => {
        server.closeIdleConnections(); // those whose last answer came meanwhile
        connections.destroyUnused();
      };
      closeIdle();
      const idle = setInterval(closeIdle, LOOK_MS);
      const late = setTimeout(() => connections.destroyAll(), times.grace);
      await Promise.all([closed, door.once.rest(times.grace)]); // also what was begun for someone who left
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}

/** Whatever else they send is not read. */
function turnAway(
  request: IncomingMessage,
  response: ServerResponse,
  { body, headers, status }: ReturnType<typeof refusalOf>,
  forGood: boolean,
): void {
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  response.writeHead(status, { ...headers, ...((hasBody || forGood) && { connection: "close" }) });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** What Node's parser does not take never becomes a request. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const [why, words] = MALFORMED[error.code ?? ""] ?? (["malformed", "this is not HTTP as it should be"] as const);
  const { body, headers, status } = refusalOf(new Refusal(why, words), "none");
  const lines = Object.entries({ ...headers, connection: "close", "content-length": String(Buffer.byteLength(body)) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  endConnection(socket, `HTTP/1.1 ${status} Refused\r\n${head}\r\n${body}`);
}

const MALFORMED: Readonly<Record<string, readonly [Why, string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", `the headers have more than ${MAX_HEADER_BYTES / 1024} KB`],
  ERR_HTTP_REQUEST_TIMEOUT: ["too_slow", "the request did not come in time"],
};
