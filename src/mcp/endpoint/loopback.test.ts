import { request } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { remoteDeclaration } from "../../acp/mcp/spec.ts";
import { connectTo, echo, toolServer, type ToolServer } from "../../acp/mcp/test-tools.ts";
import type { RemoteServerSpec } from "../../domain/mcp.ts";
import { type Endpoint, LoopbackHttp } from "./loopback.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "agent", version: "1" } },
};

let loopback: LoopbackHttp;
let server: ToolServer;
let endpoint: Endpoint;
let spec: RemoteServerSpec;

beforeEach(async () => {
  loopback = await LoopbackHttp.listen();
  server = toolServer();
  endpoint = loopback.serve(server);
  ({ spec } = endpoint);
});
afterEach(() => loopback[Symbol.asyncDispose]());

it.each<[string, number, Record<string, string | undefined>]>([
  ["no token", 401, { authorization: undefined }],
  ["another token", 401, { authorization: `Bearer ${"x".repeat(43)}` }],
  ["a longer token", 401, { authorization: `Bearer ${"x".repeat(5000)}` }],
  ["another authorization scheme", 401, { authorization: "Basic eDp5" }],
  ["another host", 403, { host: "rebound.invalid" }],
  ["the host name localhost", 403, { host: "localhost" }],
  ["the origin of a web page", 403, { origin: "https://page.invalid" }],
  ["a null origin", 403, { origin: "null" }],
])("rejects a request with %s", async (_, status, headers) => {
  expect(await post(spec, INITIALIZE, headers)).toBe(status);
  expect(server.opened).toBe(0);
});

it("accepts a request with the token", async () => {
  expect(await post(spec, INITIALIZE)).toBe(200);
  expect(server.live).toBe(1);
});

it("rejects the token of another server", async () => {
  const { spec: other } = loopback.serve(toolServer("other"));
  expect(await post({ ...spec, headers: other.headers }, INITIALIZE)).toBe(401);
});

it("answers 404 for any other path", async () => {
  expect(await post({ ...spec, url: `${spec.url}x` }, INITIALIZE)).toBe(404);
});

it("rejects a body above the limit", async () => {
  const huge = { ...INITIALIZE, params: { ...INITIALIZE.params, filler: "x".repeat(17 * 1024 * 1024) } };
  expect(await post(spec, huge)).toBe(413);
  expect(server.live).toBe(0);
});

it("opens no server for a request that does not start a session", async () => {
  expect(await post(spec, { jsonrpc: "2.0", id: 1, method: "tools/list" })).toBe(400);
  expect(await post(spec, INITIALIZE, { "mcp-session-id": "no-such-session" })).toBe(404);
  expect(server.live).toBe(0);
});

it("answers 500 if the server cannot be opened", async () => {
  const { spec: broken } = loopback.serve({
    name: "broken",
    open: () => Promise.reject(new Error("no such database")),
  });
  expect(await post(broken, INITIALIZE)).toBe(500);
});

it("ends a session when its client terminates it", async () => {
  const client = await connectTo(remoteDeclaration(spec), "/");
  expect(server.live).toBe(1);
  await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
  expect(server.live).toBe(0);
  await client.close();
});

it("evicts idle sessions above the limit, and none that is in use", async () => {
  const living = await connectTo(remoteDeclaration(spec), "/");
  for (let session = 0; session < 70; session += 1) expect(await post(spec, INITIALIZE)).toBe(200);
  expect(server.live).toBe(64);
  expect(await echo(living, "still here")).toBe("echo still here");
  await living.close();
});

it("does not accept the session id of another server", async () => {
  const { spec: other } = loopback.serve(toolServer("other"));
  const id = await sessionAt(spec);
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  expect(await post(spec, ping, { "mcp-session-id": id })).toBe(200);
  expect(await post(other, ping, { "mcp-session-id": id })).toBe(404);
});

it("stops serving a disposed endpoint and keeps the others", async () => {
  const { spec: other } = loopback.serve(toolServer("other"));
  const client = await connectTo(remoteDeclaration(spec), "/");
  await endpoint[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
  expect(server.live).toBe(0);
  expect(await post(spec, INITIALIZE)).toBe(404);
  expect(await post(other, INITIALIZE)).toBe(200);
  const { spec: next } = loopback.serve(server);
  expect(next.url).not.toBe(spec.url);
  expect(await post({ ...next, headers: spec.headers }, INITIALIZE)).toBe(401);
  await client.close();
});

it("refuses connections after disposal, even twice", async () => {
  await loopback[Symbol.asyncDispose]();
  await loopback[Symbol.asyncDispose]();
  await expect(post(spec, INITIALIZE)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

async function sessionAt({ url, headers }: RemoteServerSpec): Promise<string> {
  const body = JSON.stringify(INITIALIZE);
  const accept = "application/json, text/event-stream";
  const sent = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", accept },
    body,
  });
  await sent.text();
  return sent.headers.get("mcp-session-id") ?? "none";
}

/** Returns the status. Headers with the value undefined are not sent. */
function post(to: RemoteServerSpec, body: unknown, more: Record<string, string | undefined> = {}): Promise<number> {
  const token = to.headers["Authorization"];
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: token,
    ...more,
  };
  return new Promise((resolve, reject) => {
    const sent = request(to.url, { method: "POST", agent: false }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.setHeader(name, value);
    sent.end(JSON.stringify(body));
  });
}
