/** Finds and checks the authorization server of an MCP server (RFC 9728, RFC 8414, OpenID Connect). */
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { checkEndpoint, isSameIssuer, isSameOrigin, quoteShort } from "./addresses.ts";
import { LoginFailure, formatOAuthLoginError } from "./failure.ts";
import { type FetchGuard, guardedFetch, type Fetch } from "./guarded-fetch.ts";
import { readChallenge, type Challenge } from "./challenge.ts";

export interface DiscoveredServer {
  readonly authorizationServer: string;
  /** Undefined for older servers without metadata, whose endpoints have fixed paths. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** The resource indicator, as the server spells it. Undefined without metadata. */
  readonly resource: string | undefined;
  /** The scope that the server asks for. Configured and wider scopes are not included. */
  readonly scope: string | undefined;
}

export interface DiscoverOptions extends FetchGuard {
  /** From an earlier response. Without one, a request is made to get it. */
  readonly challenge: Challenge | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly transport: "http" | "sse";
}

/** Throws `LoginFailure` if the metadata is missing, contradictory or unsafe. */
export async function discover(options: DiscoverOptions): Promise<DiscoveredServer> {
  const { server } = options;
  checkEndpoint(server, "its URL", server);
  const fetch = guardedFetch(options);
  const challenge = options.challenge ?? (await requestChallenge(options));
  const resource = await fetchResourceMetadata(server, challenge, fetch);
  const authorizationServer = resource?.authorization_servers?.[0] ?? new URL("/", server).href;
  checkEndpoint(authorizationServer, "its authorization server", server);
  const metadata = await fetchServerMetadata(authorizationServer, server, fetch);
  // Without resource metadata the address is a guess (protocol 2025-03-26), so any issuer of that origin is accepted.
  const isIssuer = resource === undefined ? isSameOrigin : isSameIssuer;
  if (metadata !== undefined && !isIssuer(metadata.issuer, authorizationServer)) {
    const said = `${quoteShort(metadata.issuer)}, not as ${quoteShort(authorizationServer)}`;
    throw new LoginFailure(`its authorization server identifies itself as ${said}`);
  }
  if (metadata === undefined && resource !== undefined) {
    throw new LoginFailure(`its authorization server ${quoteShort(authorizationServer)} has no metadata`);
  }
  if (metadata === undefined && challenge === undefined) {
    throw new LoginFailure("it does not require a login and does not name an authorization server");
  }
  const scope = challenge?.scope ?? resource?.scopes_supported?.join(" ");
  return { authorizationServer, metadata, resource: resource?.resource, scope: scope === "" ? undefined : scope };
}

/** Sends a request without side effects to get the challenge. */
async function requestChallenge({
  fetch,
  server,
  signal,
  headers,
  transport,
}: DiscoverOptions): Promise<Challenge | undefined> {
  const accept = "application/json, text/event-stream";
  const request: RequestInit =
    transport === "sse"
      ? { headers: { ...headers, accept } }
      : {
          method: "POST",
          headers: { ...headers, accept, "content-type": "application/json" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
        };
  // Only the head is read: if no login is required, an event stream has no end.
  const headOnly: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (response.status >= 300 && response.status < 400) return response;
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  };
  const response = await guardedFetch({ fetch: headOnly, server, signal })(server, request);
  return response.status === 401 ? await readChallenge(response) : undefined;
}

async function fetchResourceMetadata(
  server: string,
  challenge: Challenge | undefined,
  fetch: Fetch,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { discoverOAuthProtectedResourceMetadata } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { checkResourceAllowed } = await import("@modelcontextprotocol/sdk/shared/auth-utils.js");
  const named = challenge?.resourceMetadataUrl;
  const looked = await fetchMetadata("its protected-resource metadata", fetch, (counted) =>
    discoverOAuthProtectedResourceMetadata(server, named === undefined ? {} : { resourceMetadataUrl: named }, counted),
  );
  if (looked === undefined) {
    if (named !== undefined) throw new LoginFailure(`there is no protected-resource metadata at ${quoteShort(named)}`);
    return undefined;
  }
  const { resource } = looked;
  if (!URL.canParse(resource) || !checkResourceAllowed({ requestedResource: server, configuredResource: resource })) {
    throw new LoginFailure(`its metadata is for another resource: ${quoteShort(resource)}`);
  }
  return looked;
}

async function fetchServerMetadata(
  authorizationServer: string,
  server: string,
  fetch: Fetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const { discoverAuthorizationServerMetadata } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const metadata = await fetchMetadata("the metadata of its authorization server", fetch, (fetchFn) =>
    discoverAuthorizationServerMetadata(authorizationServer, { fetchFn }),
  );
  if (metadata === undefined) return undefined;
  for (const name of [
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
  ] as const) {
    const endpoint = (metadata as Record<string, unknown>)[name];
    if (typeof endpoint === "string") checkEndpoint(endpoint, `the ${name} of its authorization server`, server);
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw new LoginFailure("its authorization server does not offer PKCE with S256");
  }
  return metadata;
}

/** Returns undefined if the metadata endpoint answers with 4xx, which counts as no metadata. */
async function fetchMetadata<T>(
  what: string,
  fetch: Fetch,
  look: (fetch: Fetch) => Promise<T>,
): Promise<T | undefined> {
  let status = 0;
  try {
    return await look(async (url, init) => {
      const response = await fetch(url, init);
      ({ status } = response);
      return response;
    });
  } catch (error) {
    if (error instanceof LoginFailure) throw error;
    if (status >= 400 && status < 500) return undefined;
    throw new LoginFailure(`${what} cannot be used: ${formatOAuthLoginError(error)}`, { cause: error });
  }
}
