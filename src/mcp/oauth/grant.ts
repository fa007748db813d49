/** The stored form of a login: the client registration and the tokens. */
import { z } from "zod";

const Metadata = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  revocation_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  response_types_supported: z.array(z.string()),
});

export const Grant = z.object({
  version: z.literal(1),
  /** The canonical URL of the MCP server. */
  server: z.string(),
  authorizationServer: z.string(),
  /** As it was checked at discovery. Undefined for older servers without metadata. */
  metadata: Metadata.optional(),
  /** The resource indicator (RFC 8707), as the server spells it. */
  resource: z.string().optional(),
  client: z
    .looseObject({
      client_id: z.string(),
      client_secret: z.string().optional(),
      client_secret_expires_at: z.number().optional(),
      token_endpoint_auth_method: z.string().optional(),
    })
    .optional(),
  /** The redirect URL of the registered client. Undefined for a configured client. */
  redirectUrl: z.string().optional(),
  /** Changes with each login and stays the same after a refresh. */
  loginId: z.string().optional(),
  requestedScope: z.string().optional(),
  /** The scope that the server required in addition when it refused a call. */
  widerScope: z.string().optional(),
  tokens: z
    .object({
      access: z.string(),
      refresh: z.string().optional(),
      /** Milliseconds since the epoch. */
      expiresAt: z.number().optional(),
      scope: z.string().optional(),
    })
    .optional(),
});
export type Grant = z.infer<typeof Grant>;
export type GrantTokens = NonNullable<Grant["tokens"]>;
export type OAuthClient = NonNullable<Grant["client"]>;

/** Converts the response of a token endpoint. The previous refresh token stays if the response has none. */
export function toGrantTokens(
  answer: {
    access_token: string;
    refresh_token?: string | undefined;
    expires_in?: number | undefined;
    scope?: string | undefined;
  },
  now: number,
  before?: GrantTokens,
): GrantTokens {
  const {
    access_token: access,
    refresh_token: refresh = before?.refresh,
    expires_in: seconds,
    scope = before?.scope,
  } = answer;
  return { access, refresh, expiresAt: seconds === undefined ? undefined : now + seconds * 1_000, scope };
}

export function splitScope(scope: string | undefined): string[] {
  return scope?.split(" ").filter((word) => word !== "") ?? [];
}

export function scopeUnion(...scopes: (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap(splitScope));
  return words.size === 0 ? undefined : [...words].join(" ");
}
