/** Where the browser comes back to after a login: one page on loopback, open for as long as the login takes. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { deferred } from "../../stdx/deferred.ts";
import { isSameIssuer, shown } from "./addresses.ts";
import { LoginFailure } from "./failure.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";
const MAX_CONNECTIONS = 16;

export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string;
  /** The query of the first request that came to the address. Rejects never; it waits until the callback is closed. */
  readonly came: Promise<URLSearchParams>;
}

/** Undefined where the port is taken; port 0 is a free one. */
export async function listenForCallback(port: number): Promise<Callback | undefined> {
  const http = createServer();
  http.maxConnections = MAX_CONNECTIONS;
  if (!(await listening(http, port))) return undefined;
  const authority = `${HOST}:${(http.address() as AddressInfo).port}`;
  const came = deferred<URLSearchParams>();
  const pages = new Set<Promise<void>>();
  http.on("request", (request, response) => {
    const page = answer(request, response, authority, (query) => came.resolve(query)).finally(() => pages.delete(page));
    pages.add(page);
  });
  return {
    redirectUrl: `http://${authority}${PATH}`,
    came: came.promise,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => void http.close(() => resolve()));
      await Promise.all(pages); // the person sees the page that says that this is over
      http.closeAllConnections();
      await closed;
    },
  };
}

export interface Expected {
  readonly state: string;
  readonly issuer: string | undefined;
  /** The server says that it always names itself (RFC 9207). */
  readonly namesIssuer: boolean;
}

/** The code that came back. Throws `LoginFailure` where it is not for us, or the server refused. */
export function codeOf(query: URLSearchParams, { state, issuer, namesIssuer }: Expected): string {
  if (!isSame(query.get("state") ?? "", state)) {
    throw new LoginFailure("the callback brought a wrong state: it is not the answer to this login");
  }
  const named = query.get("iss");
  if (issuer !== undefined && (named === null ? namesIssuer : !isSameIssuer(named, issuer))) {
    throw new LoginFailure(`the callback is of another issuer: ${shown(named ?? "none")}`);
  }
  const error = query.get("error");
  if (error !== null) {
    const description = query.get("error_description");
    throw new LoginFailure(`it refused: ${shown(error)}${description === null ? "" : ` ${shown(description)}`}`);
  }
  const code = query.get("code");
  if (code === null || code === "") throw new LoginFailure("the callback brought no code");
  return code;
}

async function listening(http: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(error);
    });
    http.listen(port, HOST, () => resolve(true));
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  authority: string,
  came: (query: URLSearchParams) => void,
): Promise<void> {
  const url = URL.canParse(request.url ?? "", `http://${authority}`)
    ? new URL(request.url ?? "", `http://${authority}`)
    : undefined;
  const isOurs = request.method === "GET" && url?.pathname === PATH && request.headers.host === authority;
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", connection: "close" };
  response.writeHead(isOurs ? 200 : 404, { ...headers, "referrer-policy": "no-referrer" });
  const sent = new Promise<void>((resolve) => void response.once("close", resolve));
  response.end(isOurs ? PAGE : "");
  if (isOurs) came(url.searchParams);
  await sent;
}

/** Of equal length whatever came, so that the time it takes tells nothing. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Says nothing of how it went: that is told where the login was asked for. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Rookery</title><p>You can close this page and go back to Rookery.</p>\n`;
