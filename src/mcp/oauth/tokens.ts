/** Refreshes and revokes tokens. */
import { type OAuthClient, type Grant, toGrantTokens } from "./grant.ts";
import type { Fetch } from "./guarded-fetch.ts";

/**
 * Returns a grant without tokens if the refresh is rejected permanently; then only a login helps. Rejects on temporary
 * failures.
 */
export async function refreshGrant(grant: Grant, now: number, fetchFn: Fetch): Promise<Grant> {
  const { tokens, client, resource, authorizationServer, metadata } = grant;
  if (tokens?.refresh === undefined || client === undefined) return { ...grant, tokens: undefined };
  const { refreshAuthorization } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const errors = await import("@modelcontextprotocol/sdk/server/auth/errors.js");
  try {
    const answer = await refreshAuthorization(authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: client,
      refreshToken: tokens.refresh,
      ...(resource !== undefined && { resource }),
      fetchFn,
    });
    return { ...grant, tokens: toGrantTokens(answer, now, tokens) };
  } catch (error) {
    if (error instanceof errors.InvalidGrantError) return { ...grant, tokens: undefined };
    if (error instanceof errors.InvalidClientError || error instanceof errors.UnauthorizedClientError) {
      return { ...grant, tokens: undefined, client: undefined, redirectUrl: undefined };
    }
    throw error;
  }
}

/** Revokes the tokens (RFC 7009) if the server supports it. Rejects if the request fails. */
export async function revokeTokens({ metadata, tokens, client }: Grant, fetch: Fetch): Promise<void> {
  const endpoint = metadata?.revocation_endpoint;
  if (endpoint === undefined || tokens === undefined || client === undefined) return;
  const methods =
    metadata?.revocation_endpoint_auth_methods_supported ?? metadata?.token_endpoint_auth_methods_supported ?? [];
  const { selectClientAuthMethod } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const method = selectClientAuthMethod(client, methods);
  // The refresh token first, because most servers then revoke the access tokens too.
  for (const [hint, token] of [
    ["refresh_token", tokens.refresh],
    ["access_token", tokens.access],
  ] as const) {
    if (token === undefined) continue;
    const body = new URLSearchParams({ token, token_type_hint: hint });
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    authenticate(method, client, headers, body);
    const response = await fetch(endpoint, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`HTTP ${response.status} from ${endpoint}`);
  }
}

function authenticate(method: string, client: OAuthClient, headers: Headers, body: URLSearchParams): void {
  const { client_id: id, client_secret: secret } = client;
  if (method === "client_secret_basic" && secret !== undefined) {
    headers.set("authorization", `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`);
    return;
  }
  body.set("client_id", id);
  if (method === "client_secret_post" && secret !== undefined) body.set("client_secret", secret);
}
