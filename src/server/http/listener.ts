/** The Node HTTP server: checks access and limits, passes requests to the app, and shuts down gracefully. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { endConnection } from "../../stdx/index.ts";
import { toClosingError, makeApp, encodeRefusal, type Bindings } from "./app.ts";
import type { HandlerContext } from "./handler-context.ts";
import { checkAccess, type AccessRules } from "./guard.ts";
import { MAX_PROMPT_BODY } from "./input.ts";
import { HttpRefusal, toTooManyConnections, type HttpRefusalReason } from "./problem.ts";
import { recordRequest, requestPath, type WriteLogLine, type RequestRecord } from "./request-record.ts";

/** All values are in milliseconds. */
export interface HttpTimeouts {
  /** Between two keep-alive comments of a stream. */
  readonly heartbeat: number;
  /** Between two searches for sessions that another process deleted. */
  readonly deletions: number;
  /** For receiving the headers of a request. */
  readonly headers: number;
  /** For receiving a whole request. */
  readonly request: number;
  /** For a connection whose peer neither sends nor reads. Must be longer than `heartbeat`. */
  readonly stall: number;
  /** For running requests to finish when the server closes. */
  readonly grace: number;
  /** For slow work, before the server responds with 202. */
  readonly patience: number;
}

export interface HttpListenerOptions {
  readonly access: AccessRules;
  readonly log: WriteLogLine;
  readonly times: HttpTimeouts;
}

export interface HttpListener {
  readonly server: Server;
  /** Rejects new requests, ends all streams, and waits up to `grace` for running requests. */
  close(): Promise<void>;
}

const CLOSE_IDLE_EVERY_MS = 20;
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 5_000;

export function createHttpListener(context: HandlerContext, { access, log, times }: HttpListenerOptions): HttpListener {
  const records = new WeakMap<IncomingMessage, RequestRecord>();
  const app = makeApp(context);
  const serve = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as Omit<Bindings, "record">;
      return app.fetch(request, { incoming, outgoing, record: records.get(incoming) });
    },
    { overrideGlobalObjects: false },
  );
  const { connections } = context;
  let isClosing = false;
  const handleRequest = (
    request: IncomingMessage,
    response: ServerResponse,
    onAdmitted = (): void => undefined,
  ): void => {
    if (request.socket.destroyed) return; // closed between two requests of one packet
    if (connections.isPipelining(request)) return void request.socket.destroy();
    const record = recordRequest(request, response, { log, metrics: context.metrics });
    records.set(request, record);
    response.on("error", () => undefined); // a reset connection: the close event handles it
    response.once("close", connections.startRequest(request));
    try {
      if (isClosing) throw toClosingError();
      if (checkAccess(request, requestPath(request), access) && !connections.authenticate(request.socket))
        throw toTooManyConnections();
      onAdmitted();
      void serve(request, response); // never rejects: the app responds to errors of routes
    } catch (error) {
      sendRefusal(request, response, encodeRefusal(error, record.requestId), isClosing);
    }
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: times.headers,
      requestTimeout: times.request,
      connectionsCheckingInterval: Math.min(times.headers, 5_000),
      requireHostHeader: false, // `checkAccess` reports it as a problem
      keepAlive: true,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    handleRequest,
  );
  server.setTimeout(times.stall, (socket) => {
    const isWaitingForServer = connections.isBusy(socket) && socket.writableLength === 0;
    if (!isWaitingForServer) socket.destroy();
  });
  connections.watch(server);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    handleRequest(request, response, () => {
      if (Number(request.headers["content-length"] ?? 0) <= MAX_PROMPT_BODY) response.writeContinue();
    });
  });
  server.on("clientError", refuseMalformed);
  return {
    server,
    async close() {
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      context.streams.close();
      void context.taskMcp.close().catch(() => undefined); // `destroyAll` ends what it leaves
      const closeIdle = (): void => {
        server.closeIdleConnections(); // connections whose last response was sent meanwhile
        connections.destroyUnused();
      };
      closeIdle();
      const idleTimer = setInterval(closeIdle, CLOSE_IDLE_EVERY_MS);
      const graceTimer = setTimeout(() => connections.destroyAll(), times.grace);
      await Promise.all([closed, context.requests.waitForAll(times.grace)]); // includes abandoned work
      clearInterval(idleTimer);
      clearTimeout(graceTimer);
    },
  };
}

/** Sends an error response without reading the request body. */
function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { body, headers, status }: ReturnType<typeof encodeRefusal>,
  closeConnection: boolean,
): void {
  const hasBody = request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined;
  response.writeHead(status, { ...headers, ...((hasBody || closeConnection) && { connection: "close" }) });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** Responds to bytes that Node's HTTP parser rejects. They never become a request. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const [reason, message] =
    PARSER_ERRORS[error.code ?? ""] ?? (["malformed", "the request is not valid HTTP/1.1"] as const);
  const { body, headers, status } = encodeRefusal(new HttpRefusal(reason, message), "none");
  const lines = Object.entries({ ...headers, connection: "close", "content-length": String(Buffer.byteLength(body)) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  endConnection(socket, `HTTP/1.1 ${status} Refused\r\n${head}\r\n${body}`);
}

const PARSER_ERRORS: Readonly<Record<string, readonly [HttpRefusalReason, string]>> = {
  HPE_HEADER_OVERFLOW: [
    "headers_too_large",
    `the request headers exceed ${MAX_HEADER_BYTES / 1024} KB: send fewer or shorter headers`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["too_slow", "the request was not received in time: send it without pauses"],
};
