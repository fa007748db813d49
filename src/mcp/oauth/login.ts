/** The login flow: discovery, registration, the login page, the callback and the token exchange. */
import { randomBytes } from "node:crypto";
import type { LoginOutcome, RemoteServerSpec } from "../../domain/index.ts";
import type { Clock } from "../../stdx/clock.ts";
import { deferred } from "../../stdx/deferred.ts";
import type { LoginOptions } from "../authorizer.ts";
import { checkEndpoint } from "./addresses.ts";
import { type Callback, readAuthorizationCode } from "./callback.ts";
import type { Challenge } from "./challenge.ts";
import { type ClientRegistration, prepareClient } from "./client.ts";
import { discover, type DiscoveredServer } from "./discovery.ts";
import { LoginFailure, formatOAuthLoginError } from "./failure.ts";
import { type Grant, splitScope, scopeUnion, toGrantTokens } from "./grant.ts";
import { type Fetch, guardedFetch } from "./guarded-fetch.ts";

export interface LoginContext extends LoginOptions {
  readonly spec: RemoteServerSpec;
  /** The canonical URL. */
  readonly server: string;
  readonly challenge: Challenge | undefined;
  /** From an earlier login. */
  readonly storedGrant: Grant | undefined;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
}

export type LoginResult = { readonly outcome: LoginOutcome; readonly grant?: Grant };

/** Never rejects. The callback port is closed when it resolves. */
export async function performLogin(context: LoginContext): Promise<LoginResult> {
  const { spec, signal } = context;
  try {
    signal.throwIfAborted();
    return await attemptLogin(context);
  } catch (error) {
    if (signal.aborted) return { outcome: { status: "cancelled" } };
    return { outcome: { status: "failed", reason: `${spec.name}: ${formatOAuthLoginError(error)}` } };
  }
}

async function attemptLogin(context: LoginContext): Promise<LoginResult> {
  const { spec, server, storedGrant, clock, signal } = context;
  const guarded = { fetch: context.fetch, server, signal };
  const fetch = guardedFetch(guarded);
  const headers = Object.fromEntries(Object.entries(spec.headers).filter(([name]) => !/^authorization$/i.test(name)));
  const discovered = await discover({ ...guarded, challenge: context.challenge, headers, transport: spec.type });
  const scope = selectScope(context, discovered);
  const { authorizationServer, metadata } = discovered;
  const state = randomBytes(32).toString("base64url");
  const registration = await prepareClient({
    oauth: spec.oauth ?? {},
    authorizationServer,
    metadata,
    scope,
    storedGrant,
    now: clock.now(),
    state,
    fetch,
  });
  await using callback = registration.callback;
  const { authorizationUrl, codeVerifier } = await buildAuthorizationUrl(
    context,
    discovered,
    registration,
    scope,
    state,
  );
  const result = await waitForUser(context, callback, authorizationUrl);
  if (result instanceof URLSearchParams) {
    const namesIssuer =
      (metadata as Record<string, unknown> | undefined)?.["authorization_response_iss_parameter_supported"] === true;
    const code = readAuthorizationCode(result, { issuer: metadata?.issuer, namesIssuer });
    const tokens = await exchangeCode(context, discovered, registration, code, codeVerifier, fetch);
    const grant: Grant = {
      version: 1,
      server,
      authorizationServer,
      metadata,
      resource: discovered.resource,
      client: registration.client,
      redirectUrl: spec.oauth?.clientId === undefined ? callback.redirectUrl : undefined,
      loginId: randomBytes(12).toString("hex"),
      requestedScope: scope,
      tokens: { ...tokens, scope: tokens.scope ?? scope },
    };
    return { outcome: { status: "done" }, grant };
  }
  return { outcome: result };
}

/**
 * Configured scopes take precedence over the server's. Adds any wider scope that a call required, and `offline_access`
 * if offered.
 */
function selectScope({ spec, storedGrant }: LoginContext, { scope, metadata }: DiscoveredServer): string | undefined {
  const wanted = scopeUnion(spec.oauth?.scopes?.join(" ") ?? scope, storedGrant?.widerScope);
  const offline = metadata?.scopes_supported?.includes("offline_access") === true;
  return offline && splitScope(wanted).length > 0 ? scopeUnion(wanted, "offline_access") : wanted;
}

async function buildAuthorizationUrl(
  { server }: LoginContext,
  { authorizationServer, metadata, resource }: DiscoveredServer,
  { client, callback }: ClientRegistration,
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
  checkEndpoint(authorizationUrl, "the login page", server);
  return { authorizationUrl: authorizationUrl.href, codeVerifier };
}

/** Waits for the callback, or for the user to decline. An accepted question alone does not complete the login. */
async function waitForUser(
  context: LoginContext,
  callback: Callback,
  url: string,
): Promise<URLSearchParams | LoginOutcome> {
  const { spec, signal, timeoutMs } = context;
  const finished = new AbortController();
  const completed = deferred();
  const outcome = deferred<LoginOutcome>();
  const timeoutError = new LoginFailure(`the login was not completed within ${Math.round(timeoutMs / 1_000)} s`);
  const timer = setTimeout(() => outcome.reject(timeoutError), timeoutMs);
  const aborted = (): void => outcome.resolve({ status: "cancelled" });
  signal.addEventListener("abort", aborted, { once: true });
  if (signal.aborted) aborted();
  const question = context
    .ask(
      { message: `${spec.name} requires a login: open the page, then return here.`, from: spec.name, url },
      { signal: AbortSignal.any([signal, finished.signal]), completed: completed.promise },
    )
    .then(({ action }) => {
      if (action === "decline") outcome.resolve({ status: "declined" });
      if (action === "cancel") outcome.resolve({ status: "cancelled" });
    })
    .catch((error: unknown) => outcome.reject(error));
  try {
    return await Promise.race([callback.received, outcome.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
    outcome.promise.catch(() => undefined); // later outcomes are ignored
    completed.resolve();
    // Waits one turn of the event loop, so that the asker sees the completion before the abort.
    setImmediate(() => finished.abort());
    question.catch(() => undefined);
  }
}

async function exchangeCode(
  { clock }: LoginContext,
  { authorizationServer, metadata, resource }: DiscoveredServer,
  { client, callback }: ClientRegistration,
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
    return toGrantTokens(answer, clock.now());
  } catch (error) {
    if (error instanceof LoginFailure) throw error;
    throw new LoginFailure(`its token endpoint refused the request: ${formatOAuthLoginError(error)}`, { cause: error });
  }
}
