/** A real MCP server with OAuth, built on the SDK, that tests can make lie, forget and refuse. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { OAuthRegisteredClientsStore } from "@modelcontextprotocol/sdk/server/auth/clients.js";
import { InvalidGrantError, InvalidTokenError, OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import type { AuthorizationParams, OAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthClientInformationFull, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { RemoteServerSpec } from "../../domain/index.ts";
import type { LoginOptions } from "../authorizer.ts";

/** Can be changed at any time. */
export interface Knobs {
  /** What the login page does. */
  page: "consents" | "refuses" | "no code" | "other issuer" | "never calls back";
  /** Announced lifetime of access tokens. */
  tokenSeconds: number;
  requiredScopes: string[];
  /** The error code that the token endpoint returns. */
  tokenError: string | undefined;
  /** Whether clients can register. */
  registers: boolean;
  metadata(said: Record<string, unknown>): unknown;
  resourceMetadata(said: Record<string, unknown>): unknown;
  /** Replaces the normal response if it returns true. */
  instead(request: IncomingMessage, response: ServerResponse): boolean;
}

export interface Counts {
  registrations: number;
  pages: number;
  exchanges: number;
  refreshes: number;
  /** Refresh tokens that were used a second time. */
  reuses: number;
  revocations: number;
  /** Authorized requests to the MCP endpoint. */
  calls: number;
}

export interface TestAuthorization extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly knobs: Knobs;
  readonly counts: Counts;
  /** The parameters of the last login page. */
  readonly asked: { scope?: string; resource?: string; redirectUri?: string };
  spec(more?: Partial<RemoteServerSpec>): RemoteServerSpec;
  /** Rejects the access tokens issued so far. Refresh tokens stay valid. */
  expireTokens(): void;
  /** Rejects all tokens issued so far. */
  revokeAll(): void;
  forgetClients(): void;
}

interface IssuedGrant {
  readonly clientId: string;
  readonly scopes: string[];
  readonly resource: URL | undefined;
}

/** A dependency of the SDK without types. A non-literal name keeps the compiler from looking for them. */
const EXPRESS: string = "express";

/** The part of the Express API that is used here. */
interface App extends RequestListener {
  use(...handlers: unknown[]): void;
  all(path: string, ...handlers: unknown[]): void;
}

export async function startTestAuthorization(): Promise<TestAuthorization> {
  const knobs: Knobs = {
    page: "consents",
    tokenSeconds: 3_600,
    requiredScopes: [],
    tokenError: undefined,
    registers: true,
    metadata: (said) => said,
    resourceMetadata: (said) => said,
    instead: () => false,
  };
  const counts: Counts = {
    registrations: 0,
    pages: 0,
    exchanges: 0,
    refreshes: 0,
    reuses: 0,
    revocations: 0,
    calls: 0,
  };
  const asked: { scope?: string; resource?: string; redirectUri?: string } = {};
  const http = createServer();
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;

  const clients = new Map<string, OAuthClientInformationFull>();
  const codes = new Map<string, IssuedGrant & { readonly challenge: string }>();
  const access = new Map<string, IssuedGrant>();
  const refresh = new Map<string, IssuedGrant>();
  const used = new Set<string>();

  const give = (given: IssuedGrant): OAuthTokens => {
    const tokens = { access_token: `access-${secret()}`, refresh_token: `refresh-${secret()}` };
    access.set(tokens.access_token, given);
    refresh.set(tokens.refresh_token, given);
    return { ...tokens, token_type: "bearer", expires_in: knobs.tokenSeconds, scope: given.scopes.join(" ") };
  };
  const refuseTokens = (): void => {
    if (knobs.tokenError !== undefined) throw new TokenRefusal(knobs.tokenError, "as the test wants it");
  };

  const clientsStore: OAuthRegisteredClientsStore = {
    getClient: (id) => clients.get(id),
    registerClient(client) {
      counts.registrations++;
      const full = { ...client, client_id: `client-${secret()}` };
      clients.set(full.client_id, full);
      return full;
    },
  };
  const provider: OAuthServerProvider = {
    clientsStore,
    async authorize(client, params, response: { redirect(url: string): void; end(text: string): void }) {
      counts.pages++;
      asked.redirectUri = params.redirectUri;
      asked.scope = params.scopes?.join(" ") ?? "";
      asked.resource = params.resource?.href ?? "";
      const code = `code-${secret()}`;
      const { scopes = [], resource, codeChallenge: challenge } = params;
      codes.set(code, { clientId: client.client_id, scopes, resource, challenge });
      const back = buildCallbackUrl(knobs.page, params, code);
      if (back === undefined) response.end("log in here");
      else response.redirect(back);
    },
    async challengeForAuthorizationCode(_client, code) {
      return codes.get(code)?.challenge ?? "none";
    },
    async exchangeAuthorizationCode(client, code) {
      refuseTokens();
      const given = codes.get(code);
      codes.delete(code);
      if (given?.clientId !== client.client_id) throw new InvalidGrantError("unknown code");
      counts.exchanges++;
      return give(given);
    },
    async exchangeRefreshToken(_client, token) {
      refuseTokens();
      if (used.has(token)) counts.reuses++;
      const given = refresh.get(token);
      if (given === undefined) throw new InvalidGrantError("unknown refresh token");
      refresh.delete(token);
      used.add(token);
      counts.refreshes++;
      return give(given);
    },
    async verifyAccessToken(token) {
      const given = access.get(token);
      if (given === undefined) throw new InvalidTokenError("unknown token");
      const { clientId, scopes } = given;
      return { token, clientId, scopes, expiresAt: Date.now() / 1_000 + 60 };
    },
    async revokeToken(_client, { token }) {
      counts.revocations++;
      access.delete(token);
      refresh.delete(token);
    },
  };

  const { default: express } = (await import(EXPRESS)) as { default: () => App };
  const app = express();
  const unlimited = { rateLimit: false } as const;
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl: new URL(origin),
      resourceServerUrl: new URL(url),
      authorizationOptions: unlimited,
      tokenOptions: unlimited,
      clientRegistrationOptions: unlimited,
      revocationOptions: unlimited,
    }),
  );
  const guard = (request: unknown, response: unknown, next: () => void): void => {
    const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
    const bearer: unknown = requireBearerAuth({
      verifier: provider,
      requiredScopes: knobs.requiredScopes,
      resourceMetadataUrl,
    });
    void (bearer as (...args: unknown[]) => Promise<void>)(request, response, next);
  };
  app.all("/mcp", guard, async (request: IncomingMessage, response: ServerResponse) => {
    counts.calls++;
    await serveMcp(request, response);
  });

  http.on("request", (request, response) => {
    if (knobs.instead(request, response)) return;
    const path = request.url ?? "";
    if (path === "/register" && !knobs.registers) return void response.writeHead(404).end();
    if (path.startsWith("/.well-known/oauth-authorization-server")) {
      const { registers } = knobs;
      rewrite(response, (said) => knobs.metadata(registers ? said : { ...said, registration_endpoint: undefined }));
    }
    if (path.startsWith("/.well-known/oauth-protected-resource"))
      rewrite(response, (said) => knobs.resourceMetadata(said));
    app(request, response);
  });

  return {
    url,
    origin,
    knobs,
    counts,
    asked,
    spec: (more = {}) => ({ type: "http", name: "vault", url, headers: {}, ...more }),
    expireTokens: () => access.clear(),
    revokeAll() {
      access.clear();
      refresh.clear();
    },
    forgetClients: () => clients.clear(),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => void http.close(() => resolve()));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** A user who opens the page at once. The page consents by itself. */
export const consentingUser: LoginOptions["ask"] = async ({ url }, { completed }) => {
  // A page that does not load is the user's problem; the login keeps waiting.
  void fetch(url ?? "")
    .then((page) => page.text())
    .catch(() => undefined);
  await completed;
  return { action: "accept" };
};

class TokenRefusal extends OAuthError {
  readonly #code: string;

  constructor(code: string, message: string) {
    super(message);
    this.#code = code;
  }

  override get errorCode(): string {
    return this.#code;
  }
}

function buildCallbackUrl(
  page: Knobs["page"],
  { redirectUri, state = "" }: AuthorizationParams,
  code: string,
): string | undefined {
  const query = {
    consents: { code, state },
    refuses: { error: "access_denied", error_description: "no thanks", state },
    "no code": { state },
    "other issuer": { code, state, iss: "https://elsewhere.example" },
    "never calls back": undefined,
  }[page];
  return query && `${redirectUri}?${new URLSearchParams(query).toString()}`;
}

/** Replaces the JSON body of a response. */
function rewrite(response: ServerResponse, change: (said: Record<string, unknown>) => unknown): void {
  const end = response.end.bind(response) as (text: string) => ServerResponse;
  response.end = ((text: string | Buffer) => {
    const changed = JSON.stringify(change(JSON.parse(String(text)) as Record<string, unknown>));
    response.setHeader("content-length", Buffer.byteLength(changed));
    return end(changed);
  }) as typeof response.end;
}

async function serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const server = new McpServer({ name: "vault", version: "1.0.0" });
  server.registerTool("open", { description: "Opens the vault." }, () => ({
    content: [{ type: "text", text: "gold" }],
  }));
  const transport = new StreamableHTTPServerTransport({});
  response.once("close", () => void transport.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

function secret(): string {
  return randomBytes(12).toString("hex");
}
