/** Misbehaving remote servers and proxies. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, it, vi } from "vitest";
import type { Authorizer } from "./index.ts";
import { openTestServers } from "./test-servers.ts";
import { fakeAuthorizer, serveHttp, streamable, type Handler } from "./test-web.ts";

const QUICK = { retryFirstMs: 20, retryLastMs: 50 };
const STREAM = { "content-type": "text/event-stream" };

/** Serves normally until `startMisbehaving` is called. From then on, `handler` answers each POST. */
function later(handler: Handler): Handler {
  isMisbehaving = false;
  return (request, response) => {
    if (request.method === "GET") return response.writeHead(405).end();
    return isMisbehaving && request.method === "POST" ? handler(request, response) : streamable(request, response);
  };
}

let isMisbehaving = false;

function startMisbehaving(): void {
  isMisbehaving = true;
}

it.each<[string, Handler]>([
  ["an event with endless lines", (_, response) => endless(response, () => `data: ${"x".repeat(1_000)}\n`)],
  ["an endless line", (_, response) => endless(response, () => "x".repeat(1_000))],
])("ends the connection with a reason for %s", async (_, handler) => {
  await using web = await serveHttp(later(handler));
  await using s = openTestServers([web.spec], {
    bounds: { messageBytes: 200_000, retryFirstMs: 60_000, retryLastMs: 60_000 },
  });
  await s.ready();
  startMisbehaving();
  expect(await s.call("web__greet")).toMatchObject({
    outcome: "unknown",
    text: expect.stringContaining("more than 200000 bytes"),
  });
  expect(s.state()).toMatchObject({ status: "gone", reason: expect.stringContaining("more than 200000 bytes") });
});

it("accepts a stream that is larger than the limit of one message", async () => {
  const big = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(50_000) } });
  await using web = await serveHttp(
    later((request, response) => {
      response.writeHead(200, STREAM);
      for (let times = 0; times < 10; times += 1) response.write(`event: message\r\ndata: ${big}\r\n\r\n`);
      request.on("data", (chunk: Buffer) => {
        const { id } = JSON.parse(String(chunk)) as { id: number };
        const result = { content: [{ type: "text", text: "after all" }] };
        response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
      });
    }),
  );
  await using s = openTestServers([web.spec], { bounds: { messageBytes: 100_000 } });
  await s.ready();
  startMisbehaving();
  expect(await s.call("web__greet")).toMatchObject({ outcome: "ok", text: "after all" });
});

it.each([500, 502])(
  "fails only the call, with a short message, if the response is a page with HTTP %i",
  async (status) => {
    const page = `<html>${"<p>Bad gateway</p>".repeat(50_000)}</html>`;
    let isDown = true;
    await using web = await serveHttp(
      later((request, response) =>
        isDown ? response.writeHead(status, { "content-type": "text/html" }).end(page) : streamable(request, response),
      ),
    );
    await using s = openTestServers([web.spec]);
    await s.ready();
    startMisbehaving();
    const { outcome, text } = await s.call("web__greet");
    expect(outcome).toBe("failed");
    expect(text).toMatch(/^the call of greet on the MCP server web failed: .*Bad gateway/);
    expect(text.length).toBeLessThan(5_000);
    isDown = false;
    expect(await s.call("web__greet")).toMatchObject({ outcome: "ok" });
    expect(s.statuses()).toEqual(["connecting", "ready"]);
  },
);

it("shortens the reason if the server answers with a page of HTTP 500", async () => {
  await using web = await serveHttp((_, response) => response.writeHead(500).end("x".repeat(1_000_000)));
  await using s = openTestServers([web.spec], { bounds: QUICK });
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state().status).toBe("failed");
  expect(s.state().reason?.length).toBeLessThan(3_000);
});

it("times out on an SSE server that never sends its endpoint", async () => {
  await using web = await serveHttp((_, response) => response.writeHead(200, STREAM).write(": hello\n\n"));
  await using s = openTestServers([{ ...web.spec, type: "sse", connectTimeoutMs: 300 }]);
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state()).toMatchObject({ status: "failed", reason: "it did not answer within 0.3 s" });
});

it("does not follow an SSE endpoint on another origin", async () => {
  const reached = vi.fn();
  await using elsewhere = await serveHttp(reached);
  await using web = await serveHttp((_, response) =>
    response.writeHead(200, STREAM).write(`event: endpoint\ndata: ${elsewhere.spec.url}\n\n`),
  );
  await using s = openTestServers([{ ...web.spec, type: "sse", headers: { "X-Key": "secret" } }], { bounds: QUICK });
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state().status).toBe("failed");
  expect(reached).not.toHaveBeenCalled();
});

it("sends declared headers to redirects within the server only", async () => {
  const reached = vi.fn();
  await using elsewhere = await serveHttp(reached);
  await using web = await serveHttp((request, response) => {
    if (request.url === "/moved") return response.writeHead(307, { location: elsewhere.spec.url }).end();
    if (request.url === "/mcp") return response.writeHead(307, { location: "/mcp/" }).end();
    return request.headers["x-key"] === "secret" ? streamable(request, response) : response.writeHead(401).end();
  });
  const spec = { ...web.spec, headers: { "X-Key": "secret" } };
  await using s = openTestServers([spec, { ...spec, name: "moved", url: new URL("/moved", spec.url).href }]);
  await s.ready("web");
  await s.servers.settled({ signal: AbortSignal.timeout(10_000) });
  expect(s.state("moved")).toMatchObject({ status: "failed", reason: expect.stringContaining(elsewhere.spec.url) });
  expect(reached).not.toHaveBeenCalled();
});

it("probes a server whose streams break, at most twice", async () => {
  const asked: string[] = [];
  await using web = await serveHttp(
    later((request, response) => {
      request.on("data", (chunk: Buffer) => {
        asked.push((JSON.parse(String(chunk)) as { method: string }).method);
        response.writeHead(200, STREAM).write("data: {", () => response.destroy());
      });
    }),
  );
  await using s = openTestServers([{ ...web.spec, timeoutMs: 1_000 }]);
  await s.ready();
  startMisbehaving();
  expect(await s.call("web__greet")).toMatchObject({ outcome: "timed_out" });
  expect(asked.filter((method) => method === "ping").length).toBeLessThanOrEqual(2);
});

it("asks for a login again if it is rejected later", async () => {
  await using web = await serveHttp(streamable);
  const login = fakeAuthorizer({ status: "done" });
  await using s = openTestServers([web.spec], { authorizer: () => login.authorizer });
  await s.ready();
  login.revoke();
  expect(await s.call("web__greet")).toMatchObject({ outcome: "failed" });
  await vi.waitFor(() => expect(login.asked()).toBe(2));
  await s.ready();
  expect(await s.call("web__greet")).toMatchObject({ outcome: "ok" });
});

it("waits for a cancelled login when it is disposed", async () => {
  await using web = await serveHttp(streamable);
  const login = { begun: vi.fn(), over: vi.fn() };
  const slow: Authorizer = {
    ...fakeAuthorizer({ status: "declined" }).authorizer,
    async login({ signal }) {
      login.begun();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await new Promise(setImmediate); // closing a port takes a moment
      login.over();
      return { status: "cancelled" };
    },
  };
  const s = openTestServers([web.spec], { authorizer: () => slow });
  await vi.waitFor(() => expect(login.begun).toHaveBeenCalled());
  await s[Symbol.asyncDispose]();
  expect(login.over).toHaveBeenCalled();
});

it("can be disposed while a question waits for a session", async () => {
  const server = new McpServer({ name: "asks", version: "1" });
  const asked = vi.fn();
  server.registerTool("ask", {}, async () => {
    asked();
    await server.server.elicitInput({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
    return { content: [] };
  });
  const s = openTestServers([{ type: "memory", name: "s", open: () => server }], { isAttached: false });
  await s.ready();
  const call = s.call("s__ask", {}, { ask: () => new Promise(() => undefined) });
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  await s[Symbol.asyncDispose]();
  expect(await call).toMatchObject({ outcome: "unknown" });
});

function endless(response: Parameters<Handler>[1], more: () => string): void {
  response.writeHead(200, STREAM);
  const write = (): void => {
    while (!response.destroyed && response.write(more())) continue;
  };
  response.on("drain", write);
  write();
}
