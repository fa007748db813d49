/** What a server says when it refuses a request: where its metadata is, and what a token must be good for. */

export interface Challenge {
  readonly resourceMetadataUrl: string | undefined;
  readonly scope: string | undefined;
  /** As in RFC 6750: `invalid_token`, `insufficient_scope`. */
  readonly error: string | undefined;
}

export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href, scope, error };
}
