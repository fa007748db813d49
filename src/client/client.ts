/** The HTTP client: typed calls for every route of the API, and `follow` for event streams. */
import createFetch, { type Client } from "openapi-fetch";
import {
  checkArgument,
  functionArgument,
  objectArgument,
  optionalArgument,
  recordArgument,
  textArgument,
} from "../domain/arguments.ts";
import { trimEndOf } from "../stdx/trim.ts";
import { createFollow, type Follow } from "./follow.ts";
import type { paths } from "./schema.ts";

export interface ClientOptions {
  /** The base URL, as `rookery serve` prints it. */
  readonly url: string;
  /** Default: none, for a page that is signed in with a cookie. */
  readonly token?: string | undefined;
  /** Additional headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface RookeryClient extends Client<paths, "application/json"> {
  readonly url: string;
  /** Yields the events of a session, of a task or of everything. Reconnects when a connection breaks. */
  readonly follow: Follow;
}

const CLIENT_OPTIONS = objectArgument({
  url: textArgument,
  token: optionalArgument(textArgument),
  headers: optionalArgument(recordArgument(textArgument)),
  fetch: optionalArgument(functionArgument),
});

/** Does not connect: each call makes its own request. Throws `input_invalid` for bad options. */
export function createClient(options: ClientOptions): RookeryClient {
  checkArgument(options, CLIENT_OPTIONS, "the options of createClient");
  const { url, token, fetch = (...args) => globalThis.fetch(...args) } = options;
  const headers = { ...options.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const base = trimEndOf(url, "/");
  const client = createFetch<paths, "application/json">({
    baseUrl: base,
    headers,
    fetch: (request) => fetch(request),
  });
  return { ...client, url: base, follow: createFollow({ url: base, headers, fetch }) };
}
