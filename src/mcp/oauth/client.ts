/**
 * Our identity at an authorization server: configured, registered earlier, or registered now, together with the
 * callback port.
 */
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthSpec } from "../../domain/index.ts";
import { isSameIssuer, quoteShort } from "./addresses.ts";
import { type Callback, listenForCallback } from "./callback.ts";
import { LoginFailure, formatOAuthLoginError } from "./failure.ts";
import type { OAuthClient, Grant } from "./grant.ts";
import type { Fetch } from "./guarded-fetch.ts";

export interface ClientRegistration {
  readonly client: OAuthClient;
  readonly callback: Callback;
}

export interface OAuthClientOptions {
  readonly oauth: OAuthSpec;
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly scope: string | undefined;
  /** From an earlier login. */
  readonly storedGrant: Grant | undefined;
  readonly now: number;
  /** The secret that identifies the callback of this login. */
  readonly state: string;
  readonly fetch: Fetch;
}

/** Returns a client and an open callback, which the caller must close. Throws `LoginFailure`. */
export async function prepareClient(options: OAuthClientOptions): Promise<ClientRegistration> {
  const { oauth } = options;
  if (oauth.clientId !== undefined) {
    assertSameAuthorizationServer(options);
    const client = {
      client_id: oauth.clientId,
      ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }),
    };
    return { client, callback: await openCallback(oauth.callbackPort, options.state) };
  }
  const reusable = findReusableClient(options);
  if (reusable !== undefined) {
    const callback = await listenForCallback(reusable.port, options.state);
    if (callback !== undefined) return { client: reusable.client, callback };
  }
  const callback = await openCallback(oauth.callbackPort, options.state);
  try {
    return { client: await registerWithServer(options, callback.redirectUrl), callback };
  } catch (error) {
    await callback[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * A configured secret is sent only to the authorization server of the first login, even if the server names another one
 * now.
 */
function assertSameAuthorizationServer({ oauth, storedGrant, authorizationServer }: OAuthClientOptions): void {
  if (oauth.clientSecret === undefined || storedGrant === undefined) return;
  if (isSameIssuer(storedGrant.authorizationServer, authorizationServer)) return;
  const [before, now] = [quoteShort(storedGrant.authorizationServer), quoteShort(authorizationServer)];
  throw new LoginFailure(`its authorization server was ${before} and is now ${now}: log out first if that is correct`);
}

async function openCallback(port: number | undefined, state: string): Promise<Callback> {
  const callback = await listenForCallback(port ?? 0, state);
  if (callback === undefined) throw new LoginFailure(`the callback port ${port ?? 0} is in use`);
  return callback;
}

/** A registration includes its redirect URL, so it can be reused only with the same port. */
function findReusableClient({
  storedGrant,
  oauth,
  authorizationServer,
  now,
}: OAuthClientOptions): { client: OAuthClient; port: number } | undefined {
  if (storedGrant?.client === undefined || storedGrant.redirectUrl === undefined) return undefined;
  if (!isSameIssuer(storedGrant.authorizationServer, authorizationServer)) return undefined;
  const { client_secret_expires_at: expires = 0 } = storedGrant.client;
  if (expires !== 0 && expires * 1_000 <= now) return undefined;
  const port = Number(new URL(storedGrant.redirectUrl).port);
  return oauth.callbackPort === undefined || oauth.callbackPort === port
    ? { client: storedGrant.client, port }
    : undefined;
}

async function registerWithServer(options: OAuthClientOptions, redirectUrl: string): Promise<OAuthClient> {
  const { authorizationServer, metadata, scope, fetch } = options;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new LoginFailure(
      "its authorization server does not register clients: set an OAuth client id in the server's declaration",
    );
  }
  const { registerClient } = await import("@modelcontextprotocol/sdk/client/auth.js");
  try {
    return await registerClient(authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientMetadata: {
        client_name: "Rookery",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: registrationMethod(metadata),
      },
      ...(scope !== undefined && { scope }),
      fetchFn: fetch,
    });
  } catch (error) {
    if (error instanceof LoginFailure) throw error;
    throw new LoginFailure(`its authorization server rejected the registration: ${formatOAuthLoginError(error)}`, {
      cause: error,
    });
  }
}

/** Prefers a client without a secret, because a program on a user's machine cannot keep one. */
function registrationMethod(metadata: AuthorizationServerMetadata | undefined): string {
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  return methods.length === 0 || methods.includes("none") ? "none" : (methods[0] ?? "none");
}
