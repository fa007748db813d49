/** Speaks to a Rookery server, from Node or a browser: every route with its types, and logs to follow. */
import createFetch, { type Client } from "openapi-fetch";
import {
  checkArgument,
  functionArgument,
  objectArgument,
  optionalArgument,
  textArgument,
} from "../domain/arguments.ts";
import { trimEndOf } from "../stdx/trim.ts";
import { following, type Follow } from "./follow.ts";
import type { paths } from "./schema.ts";

export { RookeryError, isRookeryError, type ErrorCode } from "../domain/errors.ts";
export type { Follow, Followable, Followed, FollowOptions } from "./follow.ts";
export { errorOf } from "./problem.ts";
export type { components, operations, paths } from "./schema.ts";
export { remoteTasks } from "./tasks.ts";

export interface ClientOptions {
  /** As `rookery serve` prints it. */
  readonly url: string;
  readonly token: string;
  /** Another than the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface RookeryClient extends Client<paths, "application/json"> {
  readonly url: string;
  /** A session's, a task's or all events, over as many connections as it takes. */
  readonly follow: Follow;
}

const CLIENT_OPTIONS = objectArgument({
  url: textArgument,
  token: textArgument,
  fetch: optionalArgument(functionArgument),
});

/** Throws `input_invalid`. */
export function createClient(options: ClientOptions): RookeryClient {
  checkArgument(options, CLIENT_OPTIONS, "the options of createClient");
  const { url, token, fetch = (...args) => globalThis.fetch(...args) } = options;
  const base = trimEndOf(url, "/");
  const client = createFetch<paths, "application/json">({
    baseUrl: base,
    headers: { authorization: `Bearer ${token}` },
    fetch: (request) => fetch(request),
  });
  return { ...client, url: base, follow: following({ url: base, token, fetch }) };
}
