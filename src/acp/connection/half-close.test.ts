import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { Connection, streamTransport } from "../index.ts";

it("tells a peer that says no more what it asked for, and what comes on the way there", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connection: Connection = new Connection({
    transport: streamTransport(input, output),
    handlers: {
      request: async () => {
        await connection.inputEnded;
        await connection.notify("on the way");
        return "there";
      },
    },
  });
  input.end('{"jsonrpc":"2.0","id":1,"method":"slow"}\n');
  await connection.closed;
  const lines = String(output.read()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { jsonrpc: "2.0", method: "on the way" },
    { jsonrpc: "2.0", id: 1, result: "there" },
  ]);
});
