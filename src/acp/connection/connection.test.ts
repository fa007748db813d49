import { PassThrough } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { expect, it } from "vitest";
import { Connection, streamTransport, transportPair, type ConnectionHandlers } from "../index.ts";

function pair(left: ConnectionHandlers, right: ConnectionHandlers) {
  const [a, b] = transportPair();
  return [new Connection({ transport: a, handlers: left }), new Connection({ transport: b, handlers: right })] as const;
}

it("answers a request with what its handler returns", async () => {
  const [left, right] = pair({}, { request: ({ method, params }) => ({ method, params }) });
  await expect(left.request("hello", { a: 1 })).resolves.toEqual({ method: "hello", params: { a: 1 } });
  await left.close();
  await right.closed;
});

it("handles notifications one at a time in wire order although their handlers wait", async () => {
  const seen: number[] = [];
  const [left, right] = pair(
    {},
    {
      notification: async ({ params }) => {
        const n = params as number;
        for (let i = n % 3; i >= 0; i -= 1) await tick();
        seen.push(n);
      },
      request: () => seen.length,
    },
  );
  for (let n = 0; n < 30; n += 1) void left.notify("n", n);
  await expect(left.request("count")).resolves.toBe(30);
  expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => n));
  await left.close();
  await right.closed;
});

it("lets a handler call the peer and wait for it", async () => {
  const order: string[] = [];
  const [left, right] = pair(
    { request: async () => await left.request("deeper") },
    {
      request: ({ method }) => (method === "deeper" ? "deep" : right.request("ask")),
      notification: async () => {
        order.push(String(await right.request("ask")));
      },
    },
  );
  await left.notify("n");
  await expect(left.request("start")).resolves.toBe("deep");
  expect(order).toEqual(["deep"]);
  await left.close();
});

it("fails what was asked when the peer is gone, and still answers what is in hand", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let finish: ((value: string) => void) | undefined;
  const connection = new Connection({
    transport: streamTransport(input, output),
    handlers: { request: () => new Promise((resolve) => (finish = resolve)) },
  });
  const asked = connection.request("never");
  input.end('{"jsonrpc":"2.0","id":"x","method":"slow"}');
  await expect(asked).rejects.toThrow("the peer ended the connection");
  finish?.("late");
  await connection.closed;
  const lines = String(output.read()).trim().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ jsonrpc: "2.0", id: "x", result: "late" });
});
