/** Who gives out tokens for a server, as the server says (RFC 9728) and as that one says (RFC 8414, OpenID), checked. */
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { checkedEndpoint, isSameIssuer, isSameOrigin, shown } from "./addresses.ts";
import { LoginFailure, reasonOf } from "./failure.ts";
import { type Guard, guardedFetch, type Fetch } from "./guarded-fetch.ts";
import { challengeOf, type Challenge } from "./challenge.ts";

export interface Discovered {
  readonly authorizationServer: string;
  /** None where the server is of the time before metadata: its endpoints have fixed names then. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** The resource indicator, as the server spells it; none where it has no metadata. */
  readonly resource: string | undefined;
  /** What the server asks for, before what is configured and before wider scopes. */
  readonly scope: string | undefined;
}

export interface DiscoverOptions extends Guard {
  /** From a refusal that was seen; without one the server is asked for it. */
  readonly challenge: Challenge | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly transport: "http" | "sse";
}

/** Throws `LoginFailure` where the server lies, or nothing can be found. */
export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const { server } = options;
  checkedEndpoint(server, "its URL", server);
  const fetch = guardedFetch(options);
  const challenge = options.challenge ?? (await challengeBy(options));
  const resource = await resourceMetadata(server, challenge, fetch);
  const authorizationServer = resource?.authorization_servers?.[0] ?? new URL("/", server).href;
  checkedEndpoint(authorizationServer, "its authorization server", server);
  const metadata = await serverMetadata(authorizationServer, server, fetch);
  // Where nobody named an issuer the address is our guess (as of 2025-03-26): it may be any of that origin.
  const isIssuer = resource === undefined ? isSameOrigin : isSameIssuer;
  if (metadata !== undefined && !isIssuer(metadata.issuer, authorizationServer)) {
    const said = `it is ${shown(metadata.issuer)}, not ${shown(authorizationServer)}`;
    throw new LoginFailure(`its authorization server says of itself that ${said}`);
  }
  if (metadata === undefined && resource !== undefined) {
    throw new LoginFailure(`its authorization server ${shown(authorizationServer)} has no metadata`);
  }
  if (metadata === undefined && challenge === undefined) {
    throw new LoginFailure("it does not ask for a login, and does not say where one would be");
  }
  const scope = challenge?.scope ?? resource?.scopes_supported?.join(" ");
  return { authorizationServer, metadata, resource: resource?.resource, scope: scope === "" ? undefined : scope };
}

/** Any request will do; this one changes nothing where it is let in. */
async function challengeBy({
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
  // Only its head is read: where no login is wanted, the body of an event stream has no end.
  const headOnly: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (response.status >= 300 && response.status < 400) return response;
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  };
  const response = await guardedFetch({ fetch: headOnly, server, signal })(server, request);
  return response.status === 401 ? await challengeOf(response) : undefined;
}

async function resourceMetadata(
  server: string,
  challenge: Challenge | undefined,
  fetch: Fetch,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { discoverOAuthProtectedResourceMetadata } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { checkResourceAllowed } = await import("@modelcontextprotocol/sdk/shared/auth-utils.js");
  const named = challenge?.resourceMetadataUrl;
  const looked = await lookUp("its protected-resource metadata", fetch, (counted) =>
    discoverOAuthProtectedResourceMetadata(server, named === undefined ? {} : { resourceMetadataUrl: named }, counted),
  );
  if (looked === undefined) {
    if (named !== undefined) throw new LoginFailure(`its protected-resource metadata is not at ${shown(named)}`);
    return undefined;
  }
  const { resource } = looked;
  if (!URL.canParse(resource) || !checkResourceAllowed({ requestedResource: server, configuredResource: resource })) {
    throw new LoginFailure(`its metadata is of another resource: ${shown(resource)}`);
  }
  return looked;
}

async function serverMetadata(
  authorizationServer: string,
  server: string,
  fetch: Fetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const { discoverAuthorizationServerMetadata } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const metadata = await lookUp("the metadata of its authorization server", fetch, (fetchFn) =>
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
    if (typeof endpoint === "string") checkedEndpoint(endpoint, `the ${name} of its authorization server`, server);
  }
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw new LoginFailure("its authorization server does not offer PKCE with S256");
  }
  return metadata;
}

/** Undefined where there is none to be had: a metadata address that refuses (4xx) is the same as no metadata. */
async function lookUp<T>(what: string, fetch: Fetch, look: (fetch: Fetch) => Promise<T>): Promise<T | undefined> {
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
    throw new LoginFailure(`${what} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}
