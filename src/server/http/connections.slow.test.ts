import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { newId } from "../../domain/index.ts";
import { CONNECTION_LIMITS, deferred, ServerConnections } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { MAX_STREAMS } from "./stream/streams.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

const SECONDS = 1_000;

let scene: HttpScene | undefined;
let peers: Socket[] = [];
afterEach(async () => {
  for (const socket of peers) socket.destroy();
  peers = [];
  await scene?.[Symbol.asyncDispose]();
  scene = undefined;
});

const HEAD = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n";
/** Bytes that peers without a token send before they go silent. No peer reads or closes its connection. */
const OPENINGS = {
  nothing: "",
  "half of the headers": `${HEAD}X: `,
  "half of a body": `${HEAD.replace("GET", "POST")}Content-Length: 10\r\n\r\n{`,
  "half of a body to a path that needs no token": `${HEAD}Content-Length: 10\r\n\r\n{`,
  "half of a chunked body": `${HEAD}Transfer-Encoding: chunked\r\n\r\nff\r\nx`,
  "bytes that are not HTTP": "\0\0\0\0\r\n\r\n",
  "one request": `${HEAD}\r\n`,
  "many requests at once": `${HEAD}\r\n`.repeat(20),
};

it("accepts a client with the token while 1,400 peers without one hold connections", { timeout: 60_000 }, async () => {
  scene = await openHttp();
  await openPeers(scene.server.port, 1_100);
  expect((await scene.get("/v1/sessions")).status).toBe(200);
  const stream = await scene.stream("/v1/events");
  await openPeers(scene.server.port, 300);
  expect((await scene.get("/v1/sessions")).status).toBe(200);
  expect((await scene.get("/v1/health")).json).toMatchObject({ streams: 1 }); // the stream connection stays open
  expect((await countConnections())[1]).toBeLessThanOrEqual(CONNECTION_LIMITS.unauthenticated);
  await stream.cancel();
});

it("closes every connection of peers that go silent", { timeout: 60_000 }, async () => {
  scene = await openHttp([], { times: { headers: 200, request: 300, stall: 400 } });
  await openPeers(scene.server.port, 200);
  await vi.waitFor(async () => expect((await countConnections())[1]).toBe(0), { timeout: 40 * SECONDS, interval: 200 });
});

it(
  "closes the connection of a client that stops reading its stream, but not of a slow reader",
  { timeout: 60_000 },
  async () => {
    scene = await openHttp([], { times: { stall: 1_500, heartbeat: 50 } });
    const sessionId = await scene.written(0);
    const text = "x".repeat(512 * 1024);
    const at = new Date().toISOString();
    for (let head = 1; head <= 32; head += 1) {
      const events = [{ type: "message.delta" as const, at, agent: "a", messageId: "m", text }];
      await scene.store.append({ sessionId, id: newId("app"), expectedHead: head, events });
    }
    const [stalled, slow] = [await openStream(sessionId), await openStream(sessionId)];
    stalled.pause();
    let ids = 0;
    slow.on("data", (chunk: Buffer) => {
      ids += chunk.toString().split("id: ").length - 1;
      slow.pause();
      setTimeout(() => slow.resume(), 5);
    });
    const { streams } = (await scene.get("/v1/health")).json as unknown as { streams: number };
    expect(streams).toBe(2);
    await vi.waitFor(() => expect(ids).toBe(33), { timeout: 40 * SECONDS });
    await vi.waitFor(
      async () => expect((await scene?.get("/v1/health"))?.json).toMatchObject({ streams: 1 }),
      20 * SECONDS,
    );
    expect(slow.destroyed).toBe(false);
  },
);

it("keeps the connection of a client whose request takes longer than the stall timeout", async () => {
  const [asked, answered] = [deferred(), deferred()];
  const real = openMemoryStore();
  const store = new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === "list") {
          asked.resolve();
          await answered.promise;
        }
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  scene = await openHttp([], { store, times: { stall: 50 } });
  const answer = scene.get("/v1/sessions");
  await asked.promise;
  const silent = connect(scene.server.port, "127.0.0.1").resume();
  peers.push(silent);
  await once(silent, "close"); // it went silent after the client did
  answered.resolve();
  expect((await answer).status).toBe(200);
});

it("responds to only one of several pipelined requests without the token", async () => {
  scene = await openHttp();
  const socket = connect(scene.server.port, "127.0.0.1").resume();
  peers.push(socket);
  socket.on("error", () => undefined).write(`${HEAD}\r\n`.repeat(1_000));
  await once(socket, "close");
  const { text } = await scene.get("/metrics");
  const counts = [...text.matchAll(/^rookery_http_requests_total{[^}]*route="\/v1\/health"[^}]*} (\d+)$/gm)];
  expect(counts.map(([, count]) => Number(count))).toEqual([1]);
});

it("responds to all pipelined requests with the token", async () => {
  scene = await openHttp();
  const socket = connect(scene.server.port, "127.0.0.1");
  peers.push(socket);
  const authorized = `${HEAD}Authorization: Bearer ${scene.server.token}\r\n`;
  socket.write(`${authorized}\r\n`.repeat(19) + `${authorized}Connection: close\r\n\r\n`);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, "close");
  expect(text.split("HTTP/1.1 200").length - 1).toBe(20);
});

it("accepts a client while others with the token send unfinished requests", { timeout: 60_000 }, async () => {
  scene = await openHttp();
  const head = HEAD.replace("GET /v1/health", "POST /v1/sessions");
  const half = `${head}Authorization: Bearer ${scene.server.token}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  await openPeers(scene.server.port, CONNECTION_LIMITS.authenticated + 100, [half]);
  expect((await scene.get("/v1/sessions")).status).toBe(200);
});

it(
  "refuses a stream with 503 when the rest of the connections is reserved for requests",
  { timeout: 60_000 },
  async () => {
    scene = await openHttp();
    const authorization = `Authorization: Bearer ${scene.server.token}`;
    const opening = `${HEAD.replace("health", "events")}Accept: text/event-stream\r\n${authorization}\r\n\r\n`;
    await openPeers(scene.server.port, CONNECTION_LIMITS.authenticated + 100, [opening]);
    await vi.waitFor(
      async () => expect((await scene?.get("/v1/health"))?.json).toMatchObject({ streams: MAX_STREAMS }),
      {
        timeout: 40 * SECONDS,
        interval: 200,
      },
    );
    expect((await scene.get("/v1/sessions")).status).toBe(200);
    const refused = await scene.get("/v1/events", { headers: { accept: "text/event-stream" } });
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining("close streams") as unknown]);
  },
);

it("closes immediately while peers without a token are connected", async () => {
  scene = await openHttp([], { times: { grace: 300 * SECONDS } });
  await openPeers(scene.server.port, 100);
  await scene.server.close(); // the grace period is longer than the test timeout
});

it("closes an idle connection for a new client, and refuses the client with 503 if none is idle", async () => {
  const server = createServer();
  const connections = new ServerConnections({ unauthenticated: 4, authenticated: 2 });
  connections.watch(server);
  server.on("request", (incoming, response) => {
    response.once("close", connections.startRequest(incoming));
    if (!connections.authenticate(incoming.socket)) response.writeHead(503, { connection: "close" }).end();
    else if (incoming.url === "/ends") response.end();
    else response.write("started"); // stays open
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const idle = send(server, "/ends");
  await once(idle, "data");
  await once(send(server, "/stays"), "data");
  const third = send(server, "/stays");
  await Promise.all([once(idle, "close"), once(third, "data")]);
  const [answer] = (await once(send(server, "/stays"), "data")) as [Buffer];
  expect(answer.toString()).toContain("503");
  connections.destroyAll();
  await new Promise((resolve) => server.close(resolve));
});

/** The numbers of authenticated and unauthenticated connections. */
async function countConnections(): Promise<[number, number]> {
  const text = (await scene?.get("/metrics"))?.text ?? "";
  const count = (authenticated: boolean): number =>
    Number(new RegExp(`^rookery_connections{authenticated="${authenticated}"} (\\d+)$`, "m").exec(text)?.[1]);
  return [count(true), count(false)];
}

async function openStream(sessionId: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${scene?.server.token}`, accept: "text/event-stream" };
  const url = `${scene?.server.url}/v1/sessions/${sessionId}/events`;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { headers, agent: false }, resolve).on("error", reject).end();
  });
  peers.push(response.socket);
  return response.on("error", () => undefined);
}

function send(server: Server, path: string): Socket {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  peers.push(socket);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return socket.on("error", () => undefined);
}

/** Resolves when every peer is connected. */
async function openPeers(port: number, count: number, openings = Object.values(OPENINGS)): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      peers.push(socket);
      socket.on("error", () => undefined).pause();
      await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
      const bytes = openings[at % openings.length] ?? "";
      if (bytes !== "") socket.write(bytes);
    }),
  );
}
