/** The challenge of a 401 or 403 response: where the server's metadata is, and which scope it requires. */

export interface Challenge {
  readonly resourceMetadataUrl: string | undefined;
  readonly scope: string | undefined;
  /** An RFC 6750 code: `invalid_token`, `insufficient_scope`. */
  readonly error: string | undefined;
}

export async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href, scope, error };
}
