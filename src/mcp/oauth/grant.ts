/** What is kept of a login: who we are to the authorization server, and what it gave us. */
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
  /** As it was checked when it was discovered. None where the server is of the time before metadata. */
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
  /** Where the registered client is called back; none for a configured one. */
  redirectUrl: z.string().optional(),
  /** Another one after each login, and the same after a refresh. */
  loginId: z.string().optional(),
  requestedScope: z.string().optional(),
  /** What the server wants beyond that, since it refused a call for want of it. */
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
export type Tokens = NonNullable<Grant["tokens"]>;
export type Client = NonNullable<Grant["client"]>;

/** As a token endpoint answers; the refresh token stays where no other one came. */
export function tokensFrom(
  answer: {
    access_token: string;
    refresh_token?: string | undefined;
    expires_in?: number | undefined;
    scope?: string | undefined;
  },
  now: number,
  before?: Tokens,
): Tokens {
  const {
    access_token: access,
    refresh_token: refresh = before?.refresh,
    expires_in: seconds,
    scope = before?.scope,
  } = answer;
  return { access, refresh, expiresAt: seconds === undefined ? undefined : now + seconds * 1_000, scope };
}

export function scopesOf(scope: string | undefined): string[] {
  return scope?.split(" ").filter((word) => word !== "") ?? [];
}

export function scopeUnion(...scopes: (string | undefined)[]): string | undefined {
  const words = new Set(scopes.flatMap(scopesOf));
  return words.size === 0 ? undefined : [...words].join(" ");
}
