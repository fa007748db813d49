/**
 * Serves in-process MCP servers over loopback HTTP, for agents that reach servers by URL. Every request needs the
 * token.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkArgument } from "../../domain/arguments.ts";
import type { RemoteServerSpec } from "../../domain/mcp.ts";
import { ServerConnections } from "../../stdx/index.ts";
import { HttpSessions, IN_PROCESS_SERVER, type OpenableServer } from "./http-sessions.ts";

const HOST = "127.0.0.1";

/** The URL of one server and its token. Disposing it stops serving this server. */
export interface Endpoint extends AsyncDisposable {
  readonly spec: RemoteServerSpec;
}

interface ServedEndpoint {
  readonly tokenHash: Buffer;
  readonly sessions: HttpSessions;
}

/** Listens on a free port of the loopback interface. */
export class LoopbackHttp implements AsyncDisposable {
  readonly #http: Server;
  readonly #connections = new ServerConnections();
  readonly #served = new Map<string, ServedEndpoint>();
  #count = 0;

  private constructor(http: Server) {
    this.#http = http;
    this.#connections.watch(http);
    http.on("request", (request, response) => void this.#handle(request, response));
  }

  static async listen(): Promise<LoopbackHttp> {
    const http = createServer();
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(0, HOST, () => resolve(http.off("error", reject) && undefined));
    });
    return new LoopbackHttp(http);
  }

  serve(server: OpenableServer): Endpoint {
    checkArgument(server, IN_PROCESS_SERVER, "the server");
    const token = randomBytes(32).toString("base64url");
    const path = `/mcp/${(this.#count += 1)}`;
    const sessions = new HttpSessions(server);
    this.#served.set(path, { tokenHash: hash(token), sessions });
    return {
      spec: {
        type: "http",
        name: server.name,
        url: `http://${this.#authority}${path}`,
        headers: { Authorization: `Bearer ${token}` },
      },
      [Symbol.asyncDispose]: async () => {
        this.#served.delete(path);
        await sessions[Symbol.asyncDispose]();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    await Promise.all([...this.#served.values()].map(({ sessions }) => sessions[Symbol.asyncDispose]()));
    this.#connections.destroyAll();
    await closed;
  }

  get #authority(): string {
    return `${HOST}:${(this.#http.address() as AddressInfo).port}`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined); // the client is gone
    response.once("close", this.#connections.startRequest(request));
    const served = this.#served.get(request.url ?? "");
    // A web page can reach loopback too: through a host name that resolves to it, or with its own origin.
    if (request.headers.host !== this.#authority || request.headers.origin !== undefined) return refuse(response, 403);
    if (served === undefined) return refuse(response, 404);
    if (!isToken(request.headers.authorization, served.tokenHash)) return refuse(response, 401);
    if (!this.#connections.authenticate(request.socket))
      return refuse(response, 503, "too many connections are in use");
    try {
      await served.sessions.handle(request, response);
    } catch (error) {
      refuse(response, 500, error instanceof Error ? error.message : String(error));
    }
  }
}

/** Compares hashes, so that the time does not depend on the input. */
function isToken(authorization: string | undefined, expected: Buffer): boolean {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  return token !== undefined && timingSafeEqual(hash(token), expected);
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function refuse(response: ServerResponse, status: number, why = ""): void {
  if (response.headersSent) return void response.destroy();
  const headers = { connection: "close", ...(status === 401 && { "www-authenticate": "Bearer" }) };
  response.writeHead(status, headers).end(why);
}
