/** The authorizer of one server: adds its token to requests, refreshes it, and logs in again. */
import { raceAbort } from "../../stdx/index.ts";
import type { LoginOutcome, RemoteServerSpec } from "../../domain/index.ts";
import type { Clock } from "../../stdx/clock.ts";
import { type Authorizer, LoginNeeded, type LoginOptions } from "../authorizer.ts";
import { canonicalUrl } from "./addresses.ts";
import { type Challenge, readChallenge } from "./challenge.ts";
import { formatOAuthLoginError } from "./failure.ts";
import { type Grant, splitScope, scopeUnion } from "./grant.ts";
import { type Fetch, guardedFetch } from "./guarded-fetch.ts";
import { acquireLock } from "./lock.ts";
import { type LoginResult, performLogin } from "./login.ts";
import { refreshGrant, revokeTokens } from "./tokens.ts";
import type { Vault } from "./vault.ts";

/** Refreshes early, because a token may expire while its request is sent. */
const REFRESH_EARLY_MS = 10_000;
/** Twice the time limit of a token request, and more. */
const SAVE_WAIT_MS = 60_000;

/** State that all users of a server share in this process. */
export interface SharedLogin {
  grant: Grant | undefined;
  challenge: Challenge | undefined;
  login: Promise<LoginOutcome> | undefined;
  refresh: Promise<Grant | undefined> | undefined;
}

export interface AuthorizerContext {
  readonly spec: RemoteServerSpec;
  readonly shared: SharedLogin;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly loginTimeoutMs: number;
  /** Fires when all authorizers are disposed. */
  readonly closing: AbortSignal;
}

export function serverAuthorizer(context: AuthorizerContext): Authorizer {
  const { spec, shared, vault, clock, closing } = context;
  const server = canonicalUrl(spec.url);
  const { origin } = new URL(server);

  const read = async (): Promise<{ grant?: Grant | undefined; damage?: string | undefined }> => {
    const { grant, damage } = await vault.read(server);
    const { clientId } = spec.oauth ?? {};
    // Tokens of another client do not match the declaration.
    const isSameClient = clientId === undefined || grant?.client?.client_id === clientId;
    shared.grant = isSameClient ? grant : undefined;
    return { grant: shared.grant, damage };
  };

  const withGrantLock = async <T>(signal: AbortSignal, act: (grant: Grant | undefined) => Promise<T>): Promise<T> => {
    await using _held = await acquireLock(vault.path(server, "lock"), { signal, waitMs: SAVE_WAIT_MS });
    return await act((await read()).grant);
  };

  const saveGrant = async (grant: Grant): Promise<Grant> => {
    await vault.write(grant);
    return (shared.grant = grant);
  };

  /** A rotating refresh token works once, so concurrent callers share one refresh. */
  const refresh = async (stale: string): Promise<Grant | undefined> =>
    withGrantLock(closing, async (grant) => {
      // another process already refreshed it
      if (grant?.tokens === undefined || grant.tokens.access !== stale) return grant;
      const next = await refreshGrant(
        grant,
        clock.now(),
        guardedFetch({ fetch: context.fetch, server, signal: closing }),
      );
      return saveGrant(next);
    });

  const refreshToken = async (stale: string, signal: AbortSignal | undefined): Promise<string | undefined> => {
    shared.refresh ??= refresh(stale).finally(() => (shared.refresh = undefined));
    try {
      return (await raceAbort(shared.refresh, signal))?.tokens?.access;
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`${spec.name}: cannot refresh its token: ${formatOAuthLoginError(error)}`, { cause: error });
    }
  };

  const currentToken = async (signal: AbortSignal | undefined): Promise<string | undefined> => {
    const tokens = shared.grant?.tokens ?? (await read()).grant?.tokens;
    if (tokens?.expiresAt === undefined || tokens.expiresAt - REFRESH_EARLY_MS > clock.now()) return tokens?.access;
    return refreshToken(tokens.access, signal);
  };

  /** Stores the wider scope for the next login. Returns false if a login would not help. */
  const needsWiderScope = async ({ error, scope }: Challenge, signal: AbortSignal): Promise<boolean> => {
    if (error !== "insufficient_scope" || scope === undefined) return false;
    return withGrantLock(signal, async (grant) => {
      const had = new Set(splitScope(scopeUnion(grant?.requestedScope, grant?.tokens?.scope)));
      if (grant === undefined || splitScope(scope).every((word) => had.has(word))) return false;
      await saveGrant({ ...grant, widerScope: scopeUnion(grant.widerScope, [...had].join(" "), scope) });
      return true;
    });
  };

  const send = (url: string | URL, init: RequestInit, token: string | undefined): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return context.fetch(url, { ...init, headers, redirect: init.redirect === "error" ? "error" : "manual" });
  };

  const loginNeeded = async (why: string): Promise<LoginNeeded> => {
    const { damage } = await vault.read(server);
    return new LoginNeeded(spec.name, damage ?? why);
  };

  const runLogin = async (options: LoginOptions): Promise<LoginOutcome> => {
    const signal = AbortSignal.any([options.signal, closing]);
    const before = (await read()).grant?.loginId;
    const waitMs = context.loginTimeoutMs + SAVE_WAIT_MS;
    await using _held = await acquireLock(vault.path(server, "login.lock"), { signal, waitMs });
    const { grant: storedGrant } = await read();
    // another process logged in meanwhile
    if (storedGrant?.tokens !== undefined && storedGrant.loginId !== before) return { status: "done" };
    const { challenge } = shared;
    const result = await performLogin({
      ...options,
      signal,
      spec,
      server,
      challenge,
      storedGrant,
      clock,
      fetch: context.fetch,
      timeoutMs: context.loginTimeoutMs,
    });
    await saveResult(result);
    return result.outcome;
  };

  const saveResult = async ({ outcome, grant }: LoginResult): Promise<void> => {
    shared.challenge = undefined;
    if (grant !== undefined) await withGrantLock(closing, () => saveGrant(grant));
    // The server may have forgotten our registration, and a page in a browser cannot report that.
    else if (outcome.status === "failed") {
      await withGrantLock(closing, async (stored) => {
        if (stored?.redirectUrl !== undefined) await saveGrant({ ...stored, redirectUrl: undefined });
      });
    }
  };

  return {
    async fetch(url, init = {}) {
      const signal = init.signal ?? undefined;
      // A request with its own key needs no login, and another origin gets no token.
      if (new URL(url).origin !== origin || new Headers(init.headers).has("authorization"))
        return send(url, init, undefined);
      let token = await currentToken(signal);
      let response = await send(url, init, token);
      if (response.status === 401 && token !== undefined) {
        const other = await refreshToken(token, signal);
        if (other !== undefined && other !== token) {
          await response.body?.cancel();
          token = other;
          response = await send(url, init, token);
        }
      }
      if (response.status === 401) {
        await response.body?.cancel();
        shared.challenge = await readChallenge(response);
        throw await loginNeeded(token === undefined ? "there is no saved login" : "the saved login is no longer valid");
      }
      if (response.status === 403 && token !== undefined) {
        const challenge = await readChallenge(response);
        if (await needsWiderScope(challenge, signal ?? closing)) {
          await response.body?.cancel();
          throw await loginNeeded(`the saved login does not have the scope ${challenge.scope ?? "that it needs"}`);
        }
      }
      return response;
    },

    async login(options) {
      for (;;) {
        const running = shared.login;
        if (running === undefined) break;
        const outcome = await raceAbort(running, options.signal).catch(() => ({ status: "cancelled" }) as const);
        // A login that was cancelled with its session does not count for other sessions.
        if (outcome.status !== "cancelled" || options.signal.aborted || closing.aborted) return outcome;
      }
      shared.login = runLogin(options)
        .catch((error: unknown): LoginOutcome => {
          if (options.signal.aborted || closing.aborted) return { status: "cancelled" };
          return { status: "failed", reason: `${spec.name}: ${formatOAuthLoginError(error)}` };
        })
        .finally(() => (shared.login = undefined));
      return shared.login;
    },

    async logout({ signal = new AbortController().signal } = {}) {
      return withGrantLock(signal, async () => {
        const { grant } = await vault.read(server);
        if (grant !== undefined) {
          // The login is removed even if it cannot be revoked; its tokens expire at the server.
          await revokeTokens(grant, guardedFetch({ fetch: context.fetch, server, signal })).catch(() => undefined);
        }
        shared.grant = undefined;
        return vault.remove(server);
      });
    },
  };
}
