import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RemoteServerSpec } from "../../domain/index.ts";
import { type Authorizer, LoginNeeded, type LoginOptions } from "../authorizer.ts";
import { type Authorizers, type AuthorizersOptions, openAuthorizers } from "./index.ts";
import { consentingUser, startTestAuthorization, type TestAuthorization } from "./test-authorization.ts";

let server: TestAuthorization;
let folder: string;
let time = 0;
const opened: Authorizers[] = [];
const never = new AbortController().signal;

beforeEach(async () => {
  server = await startTestAuthorization();
  folder = join(await mkdtemp(join(tmpdir(), "rookery-oauth-")), "mcp");
  time = Date.now();
});

afterEach(async () => {
  for (const authorizers of opened.splice(0)) await authorizers[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(join(folder, ".."), { recursive: true });
});

function open(more: Partial<AuthorizersOptions> = {}): Authorizers {
  const authorizers = openAuthorizers({ folder, clock: { now: () => time }, ...more });
  opened.push(authorizers);
  return authorizers;
}

function authorizer(spec: Partial<RemoteServerSpec> = {}): Authorizer {
  return open().for(server.spec(spec));
}

const login = (
  of: Authorizer,
  ask: LoginOptions["ask"] = consentingUser,
  signal = never,
): ReturnType<Authorizer["login"]> => of.login({ ask, signal });

const PING = { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) };
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function call(of: Authorizer): Promise<number> {
  const response = await of.fetch(server.url, { ...PING, headers: HEADERS });
  await response.text();
  return response.status;
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

const portOf = (redirect: string | undefined): number => Number(new URL(redirect ?? "http://127.0.0.1:1").port);

describe("a login", () => {
  it("starts at a page and then gives access to the tools", async () => {
    const vault = authorizer();
    await expect(call(vault)).rejects.toThrow(new LoginNeeded("vault", "there is no saved login"));
    expect(await login(vault)).toEqual({ status: "done" });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { fetch: (to, init) => vault.fetch(to, init) }),
    );
    expect(await client.callTool({ name: "open" })).toMatchObject({ content: [{ text: "gold" }] });
    await client.close();
    expect(server.asked.resource).toBe(server.url);
    expect(await isFree(portOf(server.asked.redirectUri))).toBe(true);
  });

  it("shows the page as a question, and does not count its acceptance as a login", async () => {
    const ask = vi.fn<LoginOptions["ask"]>(async ({ url }) => {
      setImmediate(() => void fetch(url ?? ""));
      return { action: "accept" };
    });
    expect(await login(authorizer(), ask)).toEqual({ status: "done" });
    expect(ask.mock.calls[0]![0]).toMatchObject({ from: "vault", message: expect.stringContaining("vault") });
    expect(ask.mock.calls[0]![0].url).toContain("code_challenge_method=S256");
  });

  it("is stored encrypted, readable only by its user, and usable by later processes", async () => {
    await login(authorizer());
    expect(await call(authorizer())).toBe(200);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const file of await readdir(folder)) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.login$/), "key"]);
  });

  it("with a configured client does not register one", async () => {
    server.knobs.registers = false;
    const { reason } = (await login(authorizer())) as { reason: string };
    expect(reason).toContain("does not register clients");
    server.knobs.registers = true;
    expect(await login(authorizer({ oauth: { clientId: "unknown" } }), neverCameBack)).toEqual({ status: "cancelled" });
    expect(server.counts.registrations).toBe(0);
  });

  it("reuses its registration on the same port, and registers again if that port is in use", async () => {
    await login(authorizer());
    const first = server.asked.redirectUri;
    await login(authorizer());
    expect(server.asked.redirectUri).toBe(first);
    expect(server.counts.registrations).toBe(1);
    const squatter = createServer();
    await new Promise<void>((resolve) => void squatter.listen(portOf(first), "127.0.0.1", resolve));
    expect(await login(authorizer())).toEqual({ status: "done" });
    expect(server.asked.redirectUri).not.toBe(first);
    expect(server.counts.registrations).toBe(2);
    await new Promise<void>((resolve) => void squatter.close(() => resolve()));
  });

  it("requests the configured scopes, or those that the server names", async () => {
    server.knobs.resourceMetadata = (said) => ({ ...said, scopes_supported: ["read", "write"] });
    await login(authorizer());
    expect(server.asked.scope).toBe("read write");
    await login(authorizer({ oauth: { scopes: ["read"] } }));
    expect(server.asked.scope).toBe("read");
  });
});

/** Cancels as soon as it is asked. */
const neverCameBack: LoginOptions["ask"] = async () => ({ action: "cancel" });

describe("a failed login closes its port and gives a reason", () => {
  it.each<[string, LoginOptions["ask"], string]>([
    ["declined", async () => ({ action: "decline" }), "declined"],
    ["cancelled", async () => ({ action: "cancel" }), "cancelled"],
  ])("if the user has %s it", async (_how, ask, status) => {
    let redirect = "";
    const answer = vi.fn<LoginOptions["ask"]>((question, options) => {
      redirect = new URL(question.url ?? "").searchParams.get("redirect_uri") ?? "";
      return ask(question, options);
    });
    expect(await login(authorizer(), answer)).toEqual({ status });
    expect(await isFree(portOf(redirect))).toBe(true);
  });

  it.each<[TestAuthorization["knobs"]["page"], string]>([
    ["refuses", 'vault: the server refused the login: "access_denied" "no thanks"'],
    ["no code", "vault: the callback has no code"],
    ["other issuer", 'vault: the callback came from another issuer: "https://elsewhere.example"'],
  ])(`if the page outcome is "%s"`, async (page, reason) => {
    server.knobs.page = page;
    expect(await login(authorizer())).toEqual({ status: "failed", reason });
    expect(await isFree(portOf(server.asked.redirectUri))).toBe(true);
  });

  it("ignores callbacks without the right state", async () => {
    const statuses: number[] = [];
    const ask: LoginOptions["ask"] = async (question, options) => {
      const page = new URL(question.url ?? "");
      const callback = page.searchParams.get("redirect_uri") ?? "";
      const silent = Array.from({ length: 40 }, () =>
        connect(portOf(callback), "127.0.0.1").on("error", () => undefined),
      );
      for (const query of [
        "",
        "?code=a",
        "?code=a&state=",
        "?state=made-up&code=a",
        "?error=access_denied",
        "?error=x&state=y",
      ]) {
        statuses.push((await fetch(`${callback}${query}`)).status);
      }
      const answer = await consentingUser(question, options);
      for (const socket of silent) socket.destroy();
      return answer;
    };
    expect(await login(authorizer(), ask)).toEqual({ status: "done" });
    expect(statuses).toEqual([400, 400, 400, 400, 400, 400]);
  });

  it("if the token endpoint refuses", async () => {
    server.knobs.tokenError = "invalid_grant";
    const reason = "vault: its token endpoint refused the request: invalid_grant: as the test wants it";
    expect(await login(authorizer())).toEqual({ status: "failed", reason });
  });

  it("if the user does not complete it in time", async () => {
    server.knobs.page = "never calls back";
    const vault = open({ loginTimeoutMs: 200 }).for(server.spec());
    let ended: unknown;
    const ask: LoginOptions["ask"] = ({ url }, { signal }) =>
      new Promise((_resolve, reject) => {
        void fetch(url ?? "");
        signal?.addEventListener("abort", () => reject((ended = new Error("over"))));
      });
    const reason = "vault: the login was not completed within 0 s";
    expect(await login(vault, ask)).toEqual({ status: "failed", reason });
    await vi.waitFor(() => expect(ended).toBeDefined());
    expect(await isFree(portOf(server.asked.redirectUri))).toBe(true);
  });

  it("if it is aborted or the authorizers are disposed", async () => {
    server.knobs.page = "never calls back";
    const aborting = new AbortController();
    const onPage =
      (act: () => void): LoginOptions["ask"] =>
      async ({ url }) => {
        await (await fetch(url ?? "")).text();
        act();
        return { action: "accept" };
      };
    expect(
      await login(
        authorizer(),
        onPage(() => aborting.abort()),
        aborting.signal,
      ),
    ).toEqual({ status: "cancelled" });
    expect(await isFree(portOf(server.asked.redirectUri))).toBe(true);
    const authorizers = open();
    const closing = onPage(() => void authorizers[Symbol.asyncDispose]());
    expect(await login(authorizers.for(server.spec()), closing)).toEqual({ status: "cancelled" });
    expect(await isFree(portOf(server.asked.redirectUri))).toBe(true);
  });
});

describe("tokens", () => {
  it("are refreshed once for all users when they expire", async () => {
    const vault = authorizer();
    await login(vault);
    time += 3_600_000;
    expect(await Promise.all([call(vault), call(vault), call(authorizer()), call(authorizer())])).toEqual([
      200, 200, 200, 200,
    ]);
    expect(server.counts).toMatchObject({ refreshes: 1, reuses: 0 });
  });

  it("are refreshed once per request when the server rejects them", async () => {
    const vault = authorizer();
    await login(vault);
    server.expireTokens();
    expect(await call(vault)).toBe(200);
    expect(server.counts.refreshes).toBe(1);
    server.knobs.instead = (request, response) => {
      if (request.url !== "/mcp") return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    };
    await expect(call(vault)).rejects.toThrow("vault requires a login: the saved login is no longer valid");
    expect(server.counts.refreshes).toBe(2);
  });

  it("are removed when the refresh is rejected, until the next login", async () => {
    const vault = authorizer();
    await login(vault);
    server.revokeAll();
    await expect(call(vault)).rejects.toThrow(LoginNeeded);
    await expect(call(authorizer())).rejects.toThrow("there is no saved login");
    await login(vault);
    expect(await call(vault)).toBe(200);
  });

  it("stay when the refresh fails temporarily", async () => {
    const vault = authorizer();
    await login(vault);
    server.expireTokens();
    server.knobs.tokenError = "temporarily_unavailable";
    await expect(call(vault)).rejects.toThrow("vault: cannot refresh its token");
    await expect(call(vault)).rejects.not.toBeInstanceOf(LoginNeeded);
    server.knobs.tokenError = undefined;
    expect(await call(vault)).toBe(200);
  });

  it("are replaced by a login with a new registration if the server forgot the client", async () => {
    const vault = authorizer();
    await login(vault);
    server.expireTokens();
    server.forgetClients();
    await expect(call(vault)).rejects.toThrow(LoginNeeded);
    expect(await login(vault)).toEqual({ status: "done" });
    expect(server.counts.registrations).toBe(2);
  });

  it("are revoked and removed at logout", async () => {
    const vault = authorizer();
    await login(vault);
    expect(await vault.logout({ signal: never })).toBe(true);
    expect(server.counts.revocations).toBe(2);
    await expect(call(vault)).rejects.toThrow(LoginNeeded);
    expect(await vault.logout({ signal: never })).toBe(false);
  });

  it("are sent only to the server's origin, and never replace a configured key", async () => {
    const seen: (string | null)[] = [];
    const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
      seen.push(new Headers(init?.headers).get("authorization"));
      return globalThis.fetch(url, init);
    };
    const vault = open({ fetch }).for(server.spec());
    await login(vault);
    await using other = await startTestAuthorization();
    seen.length = 0;
    await vault.fetch(other.url);
    await vault.fetch(server.url, { headers: { authorization: "Bearer mine" } });
    await vault.fetch(server.url, { ...PING, headers: HEADERS });
    expect(seen).toEqual([null, "Bearer mine", expect.stringContaining("Bearer access-")]);
    server.knobs.instead = (_request, response) => response.writeHead(307, { location: other.url }).end() !== undefined;
    expect((await vault.fetch(server.url)).status).toBe(307);
    expect(seen).toHaveLength(4);
  });
});

it("asks for a login with both scopes if a call needs a wider one, and only once", async () => {
  const vault = authorizer({ oauth: { scopes: ["read"] } });
  await login(vault);
  server.knobs.requiredScopes = ["write"];
  await expect(call(vault)).rejects.toThrow("does not have the scope write");
  const other = authorizer({ oauth: { scopes: ["read"] } });
  expect(await login(other)).toEqual({ status: "done" });
  expect(server.asked.scope).toBe("read write");
  expect(await call(other)).toBe(200);
  server.knobs.instead = (request, response) => {
    if (request.url !== "/mcp") return false;
    response.writeHead(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="write"' }).end();
    return true;
  };
  expect(await call(other)).toBe(403);
});
