import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Authorizers, openAuthorizers } from "./index.ts";
import { consentingUser, startTestAuthorization, type TestAuthorization } from "./test-authorization.ts";

let server: TestAuthorization;
let elsewhere: TestAuthorization;
let folder: string;
let authorizers: Authorizers;

beforeEach(async () => {
  [server, elsewhere] = await Promise.all([startTestAuthorization(), startTestAuthorization()]);
  folder = await mkdtemp(join(tmpdir(), "rookery-oauth-"));
  authorizers = openAuthorizers({ folder });
});

afterEach(async () => {
  await authorizers[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

type Lie = () => void;
const metadata =
  (more: Record<string, unknown>): Lie =>
  () => {
    server.knobs.metadata = (said) => ({ ...said, ...more });
  };
const resource =
  (more: Record<string, unknown>): Lie =>
  () => {
    server.knobs.resourceMetadata = (said) => ({ ...said, ...more });
  };
const redirecting =
  (path: string, to: () => string): Lie =>
  () => {
    server.knobs.instead = (request, response) => {
      if (request.url?.startsWith(path) !== true) return false;
      response.writeHead(307, { location: to() }).end();
      return true;
    };
  };

it.each<[string, Lie, RegExp]>([
  ["another issuer", metadata({ issuer: "https://elsewhere.example" }), /identifies itself as "https:\/\/elsewhere/],
  [
    "another resource",
    resource({ resource: "https://elsewhere.example/mcp" }),
    /for another resource: "https:\/\/else/,
  ],
  ["no PKCE", metadata({ code_challenge_methods_supported: undefined }), /does not offer PKCE/],
  ["only plain PKCE", metadata({ code_challenge_methods_supported: ["plain"] }), /does not offer PKCE/],
  ["a script as login page", metadata({ authorization_endpoint: "javascript:alert(1)" }), /authorization_endpoint/],
  [
    "a file as login page",
    metadata({ authorization_endpoint: "file:///etc/passwd" }),
    /authorization_endpoint .*must use https/,
  ],
  [
    "plain http to another host",
    metadata({ token_endpoint: "http://elsewhere.example/token" }),
    /token_endpoint .*plain http/,
  ],
  [
    "an authorization server with plain http",
    resource({ authorization_servers: ["http://elsewhere.example"] }),
    /plain http/,
  ],
  ["invalid metadata", metadata({ authorization_endpoint: 7 }), /metadata of its authorization server cannot be used/],
  ["huge metadata", metadata({ more: "x".repeat(400_000) }), /more than 256 KiB/],
  [
    "metadata on another origin",
    redirecting("/.well-known/oauth-auth", () => elsewhere.url),
    /redirects to another origin/,
  ],
  [
    "a resource on another origin",
    redirecting("/.well-known/oauth-prot", () => elsewhere.url),
    /redirects to another origin/,
  ],
  [
    "a token endpoint on another origin",
    redirecting("/token", () => `${elsewhere.origin}/token`),
    /redirects to another origin/,
  ],
  [
    "a registration endpoint on another origin",
    redirecting("/register", () => `${elsewhere.origin}/register`),
    /redirects to another origin/,
  ],
  ["endless redirects", redirecting("/.well-known/oauth-auth", () => "/.well-known/oauth-auth"), /more than 5 times/],
])("rejects a login at a server that announces %s, with a reason", async (_what, lie, reason) => {
  lie();
  const seen: string[] = [];
  elsewhere.knobs.instead = (request) => seen.push(request.url ?? "") === 0;
  const vault = authorizers.for(server.spec());
  const outcome = await vault.login({ ask: consentingUser, signal: new AbortController().signal });
  expect(outcome).toEqual({ status: "failed", reason: expect.stringMatching(reason) });
  expect((outcome as { reason: string }).reason).toMatch(/^vault: /);
  expect(seen).toEqual([]);
});

it.each([
  ["accepts an issuer of the same origin", "/oauth", { status: "done" }],
  [
    "rejects an issuer of another origin",
    "https://elsewhere.example",
    { status: "failed", reason: expect.stringContaining("identifies itself") },
  ],
])("%s from a server without resource metadata", async (_what, issuer, outcome) => {
  server.knobs.instead = (request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected") !== true && request.url !== "/mcp") return false;
    response.writeHead(request.url === "/mcp" ? 401 : 404).end();
    return true;
  };
  server.knobs.metadata = (said) => ({ ...said, issuer: new URL(issuer, server.origin).href });
  const vault = authorizers.for(server.spec());
  expect(await vault.login({ ask: consentingUser, signal: new AbortController().signal })).toEqual(outcome);
});

it.each([
  ["https://127.0.0.1/", "on this machine"],
  ["https://vault.localhost/", "on this machine"],
  ["https://[::1]/", "on this machine"],
  ["https://[::ffff:127.0.0.1]/", "on this machine"],
  ["https://0x7f.1/", "on this machine"],
  ["https://10.1.2.3/", "in a private network"],
  ["https://169.254.169.254/latest", "in a private network"],
  ["https://192.168.0.1/", "in a private network"],
  ["https://[fd00::1]/", "in a private network"],
])("rejects %s as an address named by a remote server", async (address, why) => {
  const asked: string[] = [];
  const says = (authorizationServer: string, endpoint: string) => async (url: string | URL) => {
    const { origin, pathname } = new URL(url);
    asked.push(origin);
    if (pathname === "/mcp") return new Response(null, { status: 401 });
    if (pathname.includes("oauth-protected"))
      return Response.json({ resource: "https://far.example/mcp", authorization_servers: [authorizationServer] });
    return Response.json({
      issuer: "https://far.example",
      authorization_endpoint: "https://far.example/authorize",
      token_endpoint: endpoint,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    });
  };
  for (const fetch of [says(address, "https://far.example/token"), says("https://far.example", address)]) {
    await using far = openAuthorizers({ folder, fetch });
    const spec = server.spec({ url: "https://far.example/mcp" });
    const outcome = await far.for(spec).login({ ask: consentingUser, signal: new AbortController().signal });
    expect(outcome).toEqual({ status: "failed", reason: expect.stringContaining(why) });
  }
  expect(new Set(asked)).toEqual(new Set(["https://far.example"]));
});

it("leaves the query of a server's URL out of the reason", async () => {
  server.knobs.instead = (request, response) => {
    if (request.url?.startsWith("/mcp") !== true) return false;
    response.writeHead(302, { location: "/elsewhere" }).end();
    return true;
  };
  const vault = authorizers.for(server.spec({ url: `${server.url}?key=s3cret` }));
  const outcome = await vault.login({ ask: consentingUser, signal: new AbortController().signal });
  expect(outcome).toMatchObject({ status: "failed", reason: expect.stringContaining("redirect") });
  expect(JSON.stringify(outcome)).not.toContain("s3cret");
});

it("logs in to a server that redirects within its origin", async () => {
  server.knobs.instead = (request, response) => {
    if (request.url !== "/old") return false;
    response.writeHead(307, { location: "/mcp" }).end();
    return true;
  };
  server.knobs.resourceMetadata = (said) => ({ ...said, resource: `${server.origin}/` });
  const vault = authorizers.for(server.spec({ url: `${server.origin}/old` }));
  expect(await vault.login({ ask: consentingUser, signal: new AbortController().signal })).toEqual({ status: "done" });
});

it("sends a configured secret to another authorization server only after a logout", async () => {
  const { signal } = new AbortController();
  let clientId = "";
  const ask: typeof consentingUser = (question, options) => {
    clientId = new URL(question.url ?? "").searchParams.get("client_id") ?? "";
    return consentingUser(question, options);
  };
  expect(await authorizers.for(server.spec()).login({ ask, signal })).toEqual({ status: "done" });
  server.knobs.resourceMetadata = (said) => ({ ...said, authorization_servers: [elsewhere.origin] });
  const vault = authorizers.for(server.spec({ oauth: { clientId, clientSecret: "s3cret" } }));
  expect(await vault.login({ ask, signal })).toEqual({
    status: "failed",
    reason: expect.stringMatching(/authorization server was .* log out first/),
  });
  await vault.logout({ signal });
  const asked = vi.fn<typeof consentingUser>(async () => ({ action: "decline" }));
  expect(await vault.login({ ask: asked, signal })).toEqual({ status: "declined" });
  expect(asked).toHaveBeenCalledOnce();
});
