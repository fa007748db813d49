/** `fetch` for the login flow: limits size, time and redirects, and never follows a redirect to another origin. */
import { messageOf } from "../../domain/errors.ts";
import { deadline } from "../../stdx/index.ts";
import { checkEndpoint, quoteShort } from "./addresses.ts";
import { LoginFailure } from "./failure.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 20_000;
const KEEPS_METHOD = new Set([307, 308]);
const BODILESS = new Set([204, 205, 304]);

export interface FetchGuard {
  readonly fetch: Fetch;
  /** The URL of the MCP server that the login is for. */
  readonly server: string;
  readonly signal: AbortSignal;
}

/** Rejects with `LoginFailure` if a limit is exceeded. The returned body has been read completely. */
export function guardedFetch({ fetch, server, signal }: FetchGuard): Fetch {
  return async (address, init = {}) => {
    using limit = deadline(TIMEOUT_MS, signal);
    let url = checkEndpoint(address, "the requested address", server);
    for (let redirects = 0; ; redirects++) {
      const response = await fetchOrFail(fetch, url, { ...init, redirect: "manual", signal: limit.signal }, signal);
      const target = readRedirect(response, url);
      if (target === undefined) return await readWhole(response, url, signal);
      await response.body?.cancel();
      if (target.origin !== url.origin) {
        throw new LoginFailure(`${formatLocation(url)} redirects to another origin: ${quoteShort(target.origin)}`);
      }
      if ((init.method ?? "GET") !== "GET" && !KEEPS_METHOD.has(response.status))
        throw new LoginFailure(`${formatLocation(url)} answers a POST with a redirect`);
      if (redirects === MAX_REDIRECTS)
        throw new LoginFailure(`${url.origin} redirects more than ${MAX_REDIRECTS} times`);
      url = target;
    }
  };
}

async function fetchOrFail(fetch: Fetch, url: URL, init: RequestInit, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    signal.throwIfAborted();
    throw unreachableError(url, cause);
  }
}

function readRedirect(response: Response, from: URL): URL | undefined {
  const location = response.headers.get("location");
  if (response.status < 300 || response.status > 399 || location === null) return undefined;
  if (!URL.canParse(location, from.href)) throw new LoginFailure(`${formatLocation(from)} redirects to an invalid URL`);
  return new URL(location, from);
}

async function readWhole(response: Response, url: URL, signal: AbortSignal): Promise<Response> {
  const { status, statusText, headers } = response;
  if (BODILESS.has(status) || response.body === null) return new Response(null, { status, statusText, headers });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      size += (chunk as Uint8Array).byteLength;
      // Leaving the loop cancels the rest.
      if (size > MAX_BYTES) throw new LoginFailure(`${formatLocation(url)} sent more than ${MAX_BYTES / 1024} KiB`);
      chunks.push(chunk as Uint8Array);
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof LoginFailure ? cause : unreachableError(url, cause);
  }
  return new Response(Buffer.concat(chunks), { status, statusText, headers });
}

/** Without the query, which may contain keys, because the text appears in a status. */
function formatLocation({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function unreachableError(url: URL, error: unknown): LoginFailure {
  const why = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
  return new LoginFailure(`cannot reach ${formatLocation(url)}: ${why}`, { cause: error });
}
