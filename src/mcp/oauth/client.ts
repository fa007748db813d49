/** Who we are to an authorization server: configured, registered before, or registered now; with the port it knows. */
import type { AuthorizationServerMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthSpec } from "../../domain/index.ts";
import { isSameIssuer, shown } from "./addresses.ts";
import { type Callback, listenForCallback } from "./callback.ts";
import { LoginFailure, reasonOf } from "./failure.ts";
import type { Client, Grant } from "./grant.ts";
import type { Fetch } from "./guarded-fetch.ts";

export interface Registration {
  readonly client: Client;
  readonly callback: Callback;
}

export interface ClientOptions {
  readonly oauth: OAuthSpec;
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly scope: string | undefined;
  /** From an earlier login. */
  readonly kept: Grant | undefined;
  readonly now: number;
  /** The secret by which the callback knows the answer to this login. */
  readonly state: string;
  readonly fetch: Fetch;
}

/** The caller closes the callback. Throws `LoginFailure`. */
export async function registered(options: ClientOptions): Promise<Registration> {
  const { oauth } = options;
  if (oauth.clientId !== undefined) {
    checkSecretStays(options);
    const client = {
      client_id: oauth.clientId,
      ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }),
    };
    return { client, callback: await opened(oauth.callbackPort, options.state) };
  }
  const kept = reusable(options);
  if (kept !== undefined) {
    const callback = await listenForCallback(kept.port, options.state);
    if (callback !== undefined) return { client: kept.client, callback };
  }
  const callback = await opened(oauth.callbackPort, options.state);
  try {
    return { client: await register(options, callback.redirectUrl), callback };
  } catch (error) {
    await callback[Symbol.asyncDispose]();
    throw error;
  }
}

/** A secret that a person configured was for the one it was first shown to, whoever the server names now. */
function checkSecretStays({ oauth, kept, authorizationServer }: ClientOptions): void {
  if (oauth.clientSecret === undefined || kept === undefined) return;
  if (isSameIssuer(kept.authorizationServer, authorizationServer)) return;
  const [before, now] = [shown(kept.authorizationServer), shown(authorizationServer)];
  throw new LoginFailure(
    `its authorization server was ${before} and is now said to be ${now}: log out first if that is right`,
  );
}

async function opened(port: number | undefined, state: string): Promise<Callback> {
  const callback = await listenForCallback(port ?? 0, state);
  if (callback === undefined) throw new LoginFailure(`port ${port ?? 0} for the callback is taken`);
  return callback;
}

/** Servers compare the redirect with what was registered, so the port belongs to the registration. */
function reusable({
  kept,
  oauth,
  authorizationServer,
  now,
}: ClientOptions): { client: Client; port: number } | undefined {
  if (kept?.client === undefined || kept.redirectUrl === undefined) return undefined;
  if (!isSameIssuer(kept.authorizationServer, authorizationServer)) return undefined;
  const { client_secret_expires_at: expires = 0 } = kept.client;
  if (expires !== 0 && expires * 1_000 <= now) return undefined;
  const port = Number(new URL(kept.redirectUrl).port);
  return oauth.callbackPort === undefined || oauth.callbackPort === port ? { client: kept.client, port } : undefined;
}

async function register(options: ClientOptions, redirectUrl: string): Promise<Client> {
  const { authorizationServer, metadata, scope, fetch } = options;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new LoginFailure(
      "its authorization server registers no clients: set the oauth client id of one in its declaration",
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
    throw new LoginFailure(`its authorization server does not register us: ${reasonOf(error)}`, { cause: error });
  }
}

/** A program on a person's machine keeps no secret, so none is asked for where none is needed. */
function registrationMethod(metadata: AuthorizationServerMetadata | undefined): string {
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  return methods.length === 0 || methods.includes("none") ? "none" : (methods[0] ?? "none");
}
