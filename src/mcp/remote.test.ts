import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, it, vi } from "vitest";
import type { ConnectableServer, LoginOutcome } from "../domain/index.ts";
import { openTestServers } from "./test-servers.ts";
import { fakeAuthorizer, greeter, serveHttp, streamable, type Handler } from "./test-web.ts";

const QUICK = { retryFirstMs: 20, retryLastMs: 50 };

it("sends the declared headers", async () => {
  const seen: unknown[] = [];
  await using web = await serveHttp((request, response) => {
    seen.push(request.headers["x-key"]);
    return streamable(request, response);
  });
  await using s = openTestServers([{ ...web.spec, headers: { "X-Key": "secret" } }]);
  await s.ready();
  expect(await s.call("web__greet")).toMatchObject({ outcome: "ok", text: "hello" });
  expect(new Set(seen)).toEqual(new Set(["secret"]));
});

it("connects to a server that supports only SSE", async () => {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- some servers support only SSE
  const { SSEServerTransport: SseTransport } = await import("@modelcontextprotocol/sdk/server/sse.js");
  const open = new Map<string, InstanceType<typeof SseTransport>>();
  await using web = await serveHttp(async (request, response) => {
    if (request.method === "GET") {
      const transport = new SseTransport("/messages", response);
      open.set(transport.sessionId, transport);
      return greeter().connect(transport);
    }
    const id = new URL(request.url ?? "", "http://x").searchParams.get("sessionId") ?? "";
    return open.get(id)?.handlePostMessage(request, response);
  });
  await using s = openTestServers([{ ...web.spec, type: "sse" }]);
  await s.ready();
  expect(await s.call("web__greet")).toMatchObject({ outcome: "ok", text: "hello" });
});

it("reconnects to an in-process server that closes", async () => {
  const made: McpServer[] = [];
  const make = (): ConnectableServer => {
    const server = greeter();
    made.push(server);
    return server;
  };
  await using s = openTestServers([{ type: "memory", name: "mem", open: make }], { bounds: QUICK });
  await s.ready();
  expect(await s.call("mem__greet")).toMatchObject({ text: "hello" });
  await made[0]?.close();
  await vi.waitFor(() => expect(s.statuses()).toEqual(["connecting", "ready", "gone", "ready"]));
  expect(made).toHaveLength(2);
});

it.each<[string, Handler, RegExp]>([
  [
    "redirects to another host",
    (_, response) => response.writeHead(307, { location: "https://example.com/mcp" }).end(),
    /redirect/i,
  ],
  ["rejects the request", (_, response) => response.writeHead(401).end("no"), /rejected the request \(HTTP 401\)/],
  [
    "has no such path",
    (_, response) => response.writeHead(404, { "content-type": "text/html" }).end("<!DOCTYPE html><p>Not Found"),
    /^it answered HTTP 404$/,
  ],
  ["answers with an error text", (_, response) => response.writeHead(400).end("no tenant"), /HTTP 400: no tenant$/],
  [
    "is not an MCP server",
    (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    /content type/i,
  ],
  [
    "sends too much",
    (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("x".repeat(300_000)),
    /more than 200000 bytes/,
  ],
  ["never answers", () => undefined, /did not answer within 0.5 s/],
])("fails with a reason if a server %s", async (_, handler, reason) => {
  await using web = await serveHttp(handler);
  await using s = openTestServers([{ ...web.spec, connectTimeoutMs: 500 }], {
    bounds: { ...QUICK, messageBytes: 200_000 },
  });
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({ status: "failed", reason: expect.stringMatching(reason) });
});

it("retries an unreachable server a few times, then gives up", async () => {
  const web = await serveHttp(() => undefined);
  await web[Symbol.asyncDispose]();
  await using s = openTestServers([web.spec], { bounds: QUICK });
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({
    status: "failed",
    reason: expect.stringMatching(/gave up after 2 tries: .*ECONNREFUSED/),
  });
});

it.each<[string, Handler]>([
  ["with a stream", streamable],
  [
    "without a stream",
    (request, response) => (request.method === "GET" ? response.writeHead(405).end() : streamable(request, response)),
  ],
])("reconnects to a server %s that restarts during a call", async (_, handler) => {
  await using web = await serveHttp(handler);
  await using s = openTestServers([web.spec], { bounds: { ...QUICK, retries: 50 } });
  await s.ready();
  const call = s.call("web__hang");
  await vi.waitFor(() => expect(web.calls()).toBeGreaterThan(0));
  await web.restart();
  expect(await call).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("may or may not have taken effect"),
  });
  await vi.waitFor(() => expect(s.statuses()).toEqual(["connecting", "ready", "gone", "ready"]), 10_000);
  expect(await s.call("web__greet")).toMatchObject({ outcome: "ok" });
});

it("accepts a result of 12 MB over HTTP", async () => {
  await using web = await serveHttp(streamable);
  await using s = openTestServers([web.spec]);
  await s.ready();
  const { blobs, outcome } = await s.call("web__big");
  expect(outcome).toBe("ok");
  expect(s.blobs.get(blobs![0]!.hash)?.length).toBe(12 * 1024 * 1024);
});

it.each<[string, LoginOutcome, string[], string | undefined]>([
  ["done", { status: "done" }, ["connecting", "needs_login", "connecting", "ready"], undefined],
  ["declined", { status: "declined" }, ["connecting", "needs_login", "needs_login"], "the login was declined"],
  [
    "failed",
    { status: "failed", reason: "no way" },
    ["connecting", "needs_login", "needs_login"],
    "the login failed: no way",
  ],
])("asks once for a required login that is %s", async (_, outcome, statuses, reason) => {
  await using web = await serveHttp(streamable);
  const login = fakeAuthorizer(outcome);
  await using s = openTestServers([web.spec], { authorizer: () => login.authorizer });
  await vi.waitFor(() => expect(s.statuses()).toEqual(statuses));
  expect(s.state().reason).toBe(reason);
  if (reason !== undefined) expect(s.state().fix).toBe("`rookery mcp auth web`");
  expect(login.asked()).toBe(1);
});

it("does not ask again automatically after a declined login", async () => {
  await using web = await serveHttp(streamable);
  const login = fakeAuthorizer({ status: "declined" });
  await using s = openTestServers([web.spec], { authorizer: () => login.authorizer });
  await vi.waitFor(() => expect(s.state().reason).toBe("the login was declined"));
  const before = s.statuses().length;
  s.servers.reconnect("web");
  await vi.waitFor(() => expect(s.statuses().slice(before)).toEqual(["connecting", "needs_login"]));
  expect(login.asked()).toBe(1);
});

it("waits for an explicit login if nobody can be asked", async () => {
  await using web = await serveHttp(streamable);
  const login = fakeAuthorizer({ status: "done" });
  await using s = openTestServers([web.spec], { authorizer: () => login.authorizer, attended: false });
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({ status: "needs_login", fix: "`rookery mcp auth web`" });
  expect(login.asked()).toBe(0);
  expect(await s.servers.login("web", { signal: AbortSignal.timeout(5_000) })).toEqual({ status: "done" });
  await s.ready();
});

it("fails a call that requires a login and reports needs_login", async () => {
  await using web = await serveHttp(streamable);
  const login = fakeAuthorizer({ status: "declined" }, true);
  await using s = openTestServers([web.spec], { authorizer: () => login.authorizer });
  await s.ready();
  login.revoke();
  expect(await s.call("web__greet")).toMatchObject({
    outcome: "failed",
    text: expect.stringContaining("`rookery mcp auth web`"),
  });
  await vi.waitFor(() => expect(s.state().reason).toBe("the login was declined"));
});
