/** One server's logins: its token on every request, refreshed when it must be, and the way to another one. */
import { raceAbort } from "../../stdx/index.ts";
import type { LoginOutcome, RemoteServerSpec } from "../../domain/index.ts";
import type { Clock } from "../../stdx/clock.ts";
import { type Authorizer, LoginNeeded, type LoginOptions } from "../authorizer.ts";
import { canonicalUrl } from "./addresses.ts";
import { type Challenge, challengeOf } from "./challenge.ts";
import { reasonOf } from "./failure.ts";
import { type Grant, scopesOf, scopeUnion } from "./grant.ts";
import { type Fetch, guardedFetch } from "./guarded-fetch.ts";
import { lock } from "./lock.ts";
import { type LoggedIn, logIn } from "./login.ts";
import { refreshed, revoke } from "./tokens.ts";
import type { Vault } from "./vault.ts";

/** A token that ends while its request travels is no use. */
const EARLY_MS = 10_000;
/** As long as a token endpoint may take, twice. */
const SAVE_WAIT_MS = 60_000;

/** What everyone in this process who uses the same server has in common. */
export interface Shared {
  grant: Grant | undefined;
  challenge: Challenge | undefined;
  login: Promise<LoginOutcome> | undefined;
  refresh: Promise<Grant | undefined> | undefined;
}

export interface AuthorizerContext {
  readonly spec: RemoteServerSpec;
  readonly shared: Shared;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly loginTimeoutMs: number;
  /** Fires when all authorizers are closed. */
  readonly closing: AbortSignal;
}

export function serverAuthorizer(context: AuthorizerContext): Authorizer {
  const { spec, shared, vault, clock, closing } = context;
  const server = canonicalUrl(spec.url);
  const { origin } = new URL(server);

  const read = async (): Promise<{ grant?: Grant | undefined; damage?: string | undefined }> => {
    const { grant, damage } = await vault.read(server);
    const { clientId } = spec.oauth ?? {};
    // Another client's tokens are not those that the declaration means.
    const isMeant = clientId === undefined || grant?.client?.client_id === clientId;
    shared.grant = isMeant ? grant : undefined;
    return { grant: shared.grant, damage };
  };

  const saving = async <T>(signal: AbortSignal, act: (grant: Grant | undefined) => Promise<T>): Promise<T> => {
    await using _held = await lock(vault.path(server, "lock"), { signal, waitMs: SAVE_WAIT_MS });
    return await act((await read()).grant);
  };

  const keep = async (grant: Grant): Promise<Grant> => {
    await vault.write(grant);
    return (shared.grant = grant);
  };

  /** A refresh token that rotates is used once: whoever comes while it is used gets what came of it. */
  const refresh = async (stale: string): Promise<Grant | undefined> =>
    saving(closing, async (grant) => {
      if (grant?.tokens === undefined || grant.tokens.access !== stale) return grant; // another process was faster
      const next = await refreshed(grant, clock.now(), guardedFetch({ fetch: context.fetch, server, signal: closing }));
      return keep(next);
    });

  const renewed = async (stale: string, signal: AbortSignal | undefined): Promise<string | undefined> => {
    shared.refresh ??= refresh(stale).finally(() => (shared.refresh = undefined));
    try {
      return (await raceAbort(shared.refresh, signal))?.tokens?.access;
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`${spec.name}: its token could not be refreshed: ${reasonOf(error)}`, { cause: error });
    }
  };

  const currentToken = async (signal: AbortSignal | undefined): Promise<string | undefined> => {
    const tokens = shared.grant?.tokens ?? (await read()).grant?.tokens;
    if (tokens?.expiresAt === undefined || tokens.expiresAt - EARLY_MS > clock.now()) return tokens?.access;
    return renewed(tokens.access, signal);
  };

  /** The wider scope is remembered for the login that it takes; false where a login would change nothing. */
  const needsWiderScope = async ({ error, scope }: Challenge, signal: AbortSignal): Promise<boolean> => {
    if (error !== "insufficient_scope" || scope === undefined) return false;
    return saving(signal, async (grant) => {
      const had = new Set(scopesOf(scopeUnion(grant?.requestedScope, grant?.tokens?.scope)));
      if (grant === undefined || scopesOf(scope).every((word) => had.has(word))) return false;
      await keep({ ...grant, widerScope: scopeUnion(grant.widerScope, [...had].join(" "), scope) });
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
    await using _held = await lock(vault.path(server, "login.lock"), { signal, waitMs });
    const { grant: kept } = await read();
    if (kept?.tokens !== undefined && kept.loginId !== before) return { status: "done" }; // in another process, meanwhile
    const { challenge } = shared;
    const result = await logIn({
      ...options,
      signal,
      spec,
      server,
      challenge,
      kept,
      clock,
      fetch: context.fetch,
      timeoutMs: context.loginTimeoutMs,
    });
    await settle(result);
    return result.outcome;
  };

  const settle = async ({ outcome, grant }: LoggedIn): Promise<void> => {
    shared.challenge = undefined;
    if (grant !== undefined) await saving(closing, () => keep(grant));
    // The server may have forgotten our registration, and a page in a browser cannot tell us so.
    else if (outcome.status === "failed") {
      await saving(closing, async (kept) => {
        if (kept?.redirectUrl !== undefined) await keep({ ...kept, redirectUrl: undefined });
      });
    }
  };

  return {
    async fetch(url, init = {}) {
      const signal = init.signal ?? undefined;
      // What has its own key needs no login, and what is elsewhere gets no token.
      if (new URL(url).origin !== origin || new Headers(init.headers).has("authorization"))
        return send(url, init, undefined);
      let token = await currentToken(signal);
      let response = await send(url, init, token);
      if (response.status === 401 && token !== undefined) {
        const other = await renewed(token, signal);
        if (other !== undefined && other !== token) {
          await response.body?.cancel();
          token = other;
          response = await send(url, init, token);
        }
      }
      if (response.status === 401) {
        await response.body?.cancel();
        shared.challenge = await challengeOf(response);
        throw await loginNeeded(
          token === undefined ? "it lets nobody in without one" : "it does not take the saved one any more",
        );
      }
      if (response.status === 403 && token !== undefined) {
        const challenge = await challengeOf(response);
        if (await needsWiderScope(challenge, signal ?? closing)) {
          await response.body?.cancel();
          throw await loginNeeded(`the saved one is not good for this; it wants ${challenge.scope ?? "more"}`);
        }
      }
      return response;
    },

    async login(options) {
      for (;;) {
        const running = shared.login;
        if (running === undefined) break;
        const outcome = await raceAbort(running, options.signal).catch(() => ({ status: "cancelled" }) as const);
        // Whose login was given up with its session does not speak for the others.
        if (outcome.status !== "cancelled" || options.signal.aborted || closing.aborted) return outcome;
      }
      shared.login = runLogin(options)
        .catch((error: unknown): LoginOutcome => {
          if (options.signal.aborted || closing.aborted) return { status: "cancelled" };
          return { status: "failed", reason: `${spec.name}: ${reasonOf(error)}` };
        })
        .finally(() => (shared.login = undefined));
      return shared.login;
    },

    async logout(signal) {
      return saving(signal, async () => {
        const { grant } = await vault.read(server);
        if (grant !== undefined) {
          // Forgotten here in any case: what cannot be told to the server ends there by itself.
          await revoke(grant, guardedFetch({ fetch: context.fetch, server, signal })).catch(() => undefined);
        }
        shared.grant = undefined;
        return vault.remove(server);
      });
    },
  };
}
