/** OAuth 2.1 for MCP servers. Logins are stored in a folder and shared by all processes that use it. */
import type { RemoteServerSpec } from "../../domain/index.ts";
import { type Clock, systemClock } from "../../stdx/clock.ts";
import type { Authorizer } from "../authorizer.ts";
import { canonicalUrl } from "./addresses.ts";
import type { Fetch } from "./guarded-fetch.ts";
import { serverAuthorizer, type SharedLogin } from "./server-authorizer.ts";
import { openVault } from "./vault.ts";

const LOGIN_TIMEOUT_MS = 5 * 60_000;

export interface AuthorizersOptions {
  /** Created when the first login is stored. */
  readonly folder: string;
  readonly clock?: Clock | undefined;
  readonly fetch?: Fetch | undefined;
  /** How long the user has to complete a login. Default: 5 min. */
  readonly loginTimeoutMs?: number | undefined;
}

export interface Authorizers extends AsyncDisposable {
  /** Authorizers for the same URL share a login. Nothing is read or sent before first use. */
  for(spec: RemoteServerSpec): Authorizer;
}

/** Disposing cancels logins in progress and closes their callback ports. */
export function openAuthorizers(options: AuthorizersOptions): Authorizers {
  const { folder, clock = systemClock, fetch = globalThis.fetch, loginTimeoutMs = LOGIN_TIMEOUT_MS } = options;
  const vault = openVault(folder);
  const closing = new AbortController();
  /** One entry for each declared server. */
  const all = new Map<string, SharedLogin>();
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
