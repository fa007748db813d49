/** OAuth 2.1 for MCP servers, as their specification has it: logins kept under a folder, shared by all who use it. */
import type { RemoteServerSpec } from "../../domain/index.ts";
import { type Clock, systemClock } from "../../stdx/clock.ts";
import type { Authorizer } from "../authorizer.ts";
import { canonicalUrl } from "./addresses.ts";
import type { Fetch } from "./guarded-fetch.ts";
import { serverAuthorizer, type Shared } from "./server-authorizer.ts";
import { openVault } from "./vault.ts";

const LOGIN_TIMEOUT_MS = 5 * 60_000;

export interface AuthorizersOptions {
  /** Made when there is something to keep. */
  readonly folder: string;
  readonly clock?: Clock | undefined;
  readonly fetch?: Fetch | undefined;
  /** How long a person has; five minutes if not said. */
  readonly loginTimeoutMs?: number | undefined;
}

export interface Authorizers extends AsyncDisposable {
  /** Two that are for the same URL have the same login. Nothing is read or sent before it is used. */
  for(spec: RemoteServerSpec): Authorizer;
}

/** Closing gives up what is under way: a login ends as cancelled, and its port is closed. */
export function openAuthorizers(options: AuthorizersOptions): Authorizers {
  const { folder, clock = systemClock, fetch = globalThis.fetch, loginTimeoutMs = LOGIN_TIMEOUT_MS } = options;
  const vault = openVault(folder);
  const closing = new AbortController();
  /** As many as servers were declared. */
  const all = new Map<string, Shared>();
  return {
    for(spec) {
      const key = JSON.stringify([canonicalUrl(spec.url), spec.oauth?.clientId]);
      const shared = all.get(key) ?? { grant: undefined, challenge: undefined, login: undefined, refresh: undefined };
      all.set(key, shared);
      return serverAuthorizer({ spec, shared, vault, clock, fetch, loginTimeoutMs, closing: closing.signal });
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.allSettled([...all.values()].flatMap(({ login, refresh }) => [login ?? [], refresh ?? []].flat()));
    },
  };
}
