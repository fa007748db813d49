/** The whole way to a token: discovery, registration, the page a person opens, the callback, the exchange. */
import { randomBytes } from "node:crypto";
import type { LoginOutcome, RemoteServerSpec } from "../../domain/index.ts";
import type { Clock } from "../../stdx/clock.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { LoginOptions } from "../authorizer.ts";
import { checkedEndpoint } from "./addresses.ts";
import { type Callback, codeOf } from "./callback.ts";
import type { Challenge } from "./challenge.ts";
import { type Registration, registered } from "./client.ts";
import { discover, type Discovered } from "./discovery.ts";
import { LoginFailure, reasonOf } from "./failure.ts";
import { type Grant, scopesOf, scopeUnion, tokensFrom } from "./grant.ts";
import { type Fetch, guardedFetch } from "./guarded-fetch.ts";

export interface LoginContext extends LoginOptions {
  readonly spec: RemoteServerSpec;
  /** The canonical URL. */
  readonly server: string;
  readonly challenge: Challenge | undefined;
  /** From an earlier login. */
  readonly kept: Grant | undefined;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
}

export type LoggedIn = { readonly outcome: LoginOutcome; readonly grant?: Grant };

/** Never rejects. The port is closed when it resolves, however that is. */
export async function logIn(context: LoginContext): Promise<LoggedIn> {
  const { spec, signal } = context;
  try {
    signal.throwIfAborted();
    return await attempt(context);
  } catch (error) {
    if (signal.aborted) return { outcome: { status: "cancelled" } };
    return { outcome: { status: "failed", reason: `${spec.name}: ${reasonOf(error)}` } };
  }
}

async function attempt(context: LoginContext): Promise<LoggedIn> {
  const { spec, server, kept, clock, signal } = context;
  const guarded = { fetch: context.fetch, server, signal };
  const fetch = guardedFetch(guarded);
  const headers = Object.fromEntries(Object.entries(spec.headers).filter(([name]) => !/^authorization$/i.test(name)));
  const found = await discover({ ...guarded, challenge: context.challenge, headers, transport: spec.type });
  const scope = wantedScope(context, found);
  const { authorizationServer, metadata } = found;
  const state = randomBytes(32).toString("base64url");
  const registration = await registered({
    oauth: spec.oauth ?? {},
    authorizationServer,
    metadata,
    scope,
    kept,
    now: clock.now(),
    state,
    fetch,
  });
  await using callback = registration.callback;
  const { authorizationUrl, codeVerifier } = await begin(context, found, registration, scope, state);
  const came = await personWent(context, callback, authorizationUrl);
  if (came instanceof URLSearchParams) {
    const namesIssuer =
      (metadata as Record<string, unknown> | undefined)?.["authorization_response_iss_parameter_supported"] === true;
    const code = codeOf(came, { issuer: metadata?.issuer, namesIssuer });
    const tokens = await exchange(context, found, registration, code, codeVerifier, fetch);
    const grant: Grant = {
      version: 1,
      server,
      authorizationServer,
      metadata,
      resource: found.resource,
      client: registration.client,
      redirectUrl: spec.oauth?.clientId === undefined ? callback.redirectUrl : undefined,
      loginId: randomBytes(12).toString("hex"),
      requestedScope: scope,
      tokens: { ...tokens, scope: tokens.scope ?? scope },
    };
    return { outcome: { status: "done" }, grant };
  }
  return { outcome: came };
}

/** Configured before asked for before supported; with what a call was refused for; and staying logged in where offered. */
function wantedScope({ spec, kept }: LoginContext, { scope, metadata }: Discovered): string | undefined {
  const wanted = scopeUnion(spec.oauth?.scopes?.join(" ") ?? scope, kept?.widerScope);
  const offline = metadata?.scopes_supported?.includes("offline_access") === true;
  return offline && scopesOf(wanted).length > 0 ? scopeUnion(wanted, "offline_access") : wanted;
}

async function begin(
  { server }: LoginContext,
  { authorizationServer, metadata, resource }: Discovered,
  { client, callback }: Registration,
  scope: string | undefined,
  state: string,
): Promise<{ authorizationUrl: string; codeVerifier: string }> {
  const { startAuthorization } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, {
    ...(metadata !== undefined && { metadata }),
    clientInformation: client,
    redirectUrl: callback.redirectUrl,
    ...(scope !== undefined && { scope }),
    state,
    ...(resource !== undefined && { resource }),
  });
  checkedEndpoint(authorizationUrl, "the page to log in at", server);
  return { authorizationUrl: authorizationUrl.href, codeVerifier };
}

/** What came back, or what the person said instead. Who says yes to the question has yet to come back. */
async function personWent(
  context: LoginContext,
  callback: Callback,
  url: string,
): Promise<URLSearchParams | LoginOutcome> {
  const { spec, signal, timeoutMs } = context;
  const over = new AbortController();
  const completed = deferred();
  const waited = deferred<LoginOutcome>();
  const late = new LoginFailure(`nobody came back from the login page within ${Math.round(timeoutMs / 1_000)} s`);
  const timer = setTimeout(() => waited.reject(late), timeoutMs);
  const aborted = (): void => waited.resolve({ status: "cancelled" });
  signal.addEventListener("abort", aborted, { once: true });
  if (signal.aborted) aborted();
  const asked = context
    .ask(
      { message: `${spec.name} wants you to log in: open the page, then come back here.`, from: spec.name, url },
      { signal: AbortSignal.any([signal, over.signal]), completed: completed.promise },
    )
    .then(({ action }) => {
      if (action === "decline") waited.resolve({ status: "declined" });
      if (action === "cancel") waited.resolve({ status: "cancelled" });
    })
    .catch((error: unknown) => waited.reject(error));
  try {
    return await Promise.race([callback.came, waited.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
    waited.promise.catch(() => undefined); // whatever comes after the first is too late
    completed.resolve();
    // One turn of the loop, so that who asked sees that it was completed before that it is over.
    setImmediate(() => over.abort());
    asked.catch(() => undefined);
  }
}

async function exchange(
  { clock }: LoginContext,
  { authorizationServer, metadata, resource }: Discovered,
  { client, callback }: Registration,
  authorizationCode: string,
  codeVerifier: string,
  fetchFn: Fetch,
): Promise<NonNullable<Grant["tokens"]>> {
  const { exchangeAuthorization } = await import("@modelcontextprotocol/sdk/client/auth.js");
  try {
    const answer = await exchangeAuthorization(authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: client,
      authorizationCode,
      codeVerifier,
      redirectUri: callback.redirectUrl,
      ...(resource !== undefined && { resource }),
      fetchFn,
    });
    return tokensFrom(answer, clock.now());
  } catch (error) {
    if (error instanceof LoginFailure) throw error;
    throw new LoginFailure(`its token endpoint refused: ${reasonOf(error)}`, { cause: error });
  }
}
