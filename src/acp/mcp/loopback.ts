/** MCP servers of this process on loopback HTTP, for agents that reach servers by URL: only who was told the token gets in. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpDeclaration, InProcessServer } from "./declaration.ts";
import { HttpSessions } from "./http-sessions.ts";

const HOST = "127.0.0.1";
const MAX_CONNECTIONS = 1_024;

interface Endpoint {
  readonly tokenHash: Buffer;
  readonly sessions: HttpSessions;
}

/** Listens on a free port from the first server on. */
export class LoopbackHttp implements AsyncDisposable {
  readonly #http: Server;
  readonly #endpoints = new Map<string, Endpoint>();

  private constructor(http: Server) {
    this.#http = http;
    http.maxConnections = MAX_CONNECTIONS;
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

  serve(server: InProcessServer): HttpDeclaration {
    const token = randomBytes(32).toString("base64url");
    const path = `/mcp/${this.#endpoints.size}`;
    this.#endpoints.set(path, { tokenHash: hash(token), sessions: new HttpSessions(server) });
    return {
      type: "http",
      name: server.name,
      url: `http://${this.#authority}${path}`,
      headers: [{ name: "Authorization", value: `Bearer ${token}` }],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    await Promise.all([...this.#endpoints.values()].map(({ sessions }) => sessions[Symbol.asyncDispose]()));
    this.#http.closeAllConnections();
    await closed;
  }

  get #authority(): string {
    return `${HOST}:${(this.#http.address() as AddressInfo).port}`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined); // whoever asked is gone
    const endpoint = this.#endpoints.get(request.url ?? "");
    // A page in a browser reaches loopback too: by a name that it had resolved to it, or with its own origin.
    if (request.headers.host !== this.#authority || request.headers.origin !== undefined) return refuse(response, 403);
    if (endpoint === undefined) return refuse(response, 404);
    if (!isToken(request.headers.authorization, endpoint.tokenHash)) return refuse(response, 401);
    try {
      await endpoint.sessions.handle(request, response);
    } catch (error) {
      refuse(response, 500, error instanceof Error ? error.message : String(error));
    }
  }
}

/** Of equal length whatever was sent, so that the time it takes tells nothing. */
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
