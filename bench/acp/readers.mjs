// Clients to compare. Each connects to the agent's streams and returns { request, close }. `onUpdate` gets every update.
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import {
  Connection,
  openConductor,
  openProxy,
  proxyComponent,
  streamTransport,
  transportPair,
} from "../../dist/acp/index.js";

/** The baseline: split lines and JSON.parse. */
export function raw({ stdout, stdin }, onUpdate) {
  const asked = new Map();
  let id = 0;
  let rest = "";
  stdout.setEncoding("utf8");
  stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method === "session/update") onUpdate(message.params);
      else asked.get(message.id)(message.result);
    }
  });
  return {
    request: (method, params) =>
      new Promise((resolve) => {
        asked.set((id += 1), resolve);
        stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      }),
    close: async () => void stdin.end(),
  };
}

export function rookery({ stdout, stdin }, onUpdate) {
  return over(streamTransport(stdout, stdin), onUpdate);
}

export function official({ stdout, stdin }, onUpdate) {
  const connection = client({ name: "bench" })
    .onNotification("session/update", ({ params }) => onUpdate(params))
    .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
  return {
    request: (method, params) => connection.agent.request(method, params),
    async close() {
      connection.close();
      await connection.closed;
      stdin.destroy(); // otherwise it stays open and the agent waits
    },
  };
}

/** Through a proxy in this process. */
export function proxied({ stdout, stdin }, onUpdate) {
  const [near, far] = transportPair();
  openProxy({ transport: far }, { transport: streamTransport(stdout, stdin) });
  return over(near, onUpdate);
}

/** Through a conductor in this process with five proxies. */
export function chained({ stdout, stdin }, onUpdate) {
  const [near, far] = transportPair();
  const agent = {
    name: "agent",
    start: async () => ({ transport: streamTransport(stdout, stdin), [Symbol.asyncDispose]: async () => undefined }),
  };
  const proxies = Array.from({ length: 5 }, (_, index) => proxyComponent(`proxy ${index + 1}`, {}));
  openConductor({ client: { transport: far }, proxies, agent });
  return over(near, onUpdate);
}

function over(transport, onUpdate) {
  const connection = new Connection({ transport, handlers: { notification: ({ params }) => onUpdate(params) } });
  return {
    request: (method, params) => connection.request(method, params),
    close: () => connection.close(),
  };
}
