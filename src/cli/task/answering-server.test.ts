import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { collectingIo } from "../test-io.ts";
import { requireAnsweringServer } from "./answering-server.ts";

async function listen(handle: RequestListener) {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "t",
    pid: 4711,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

it("says that a server does not answer, and gives up with the command that ends it", async () => {
  using server = await listen(() => undefined);
  const io = collectingIo("/somewhere");
  await expect(requireAnsweringServer(io, server, { noticeMs: 10, timeoutMs: 300 })).rejects.toMatchObject({
    code: "server_unreachable",
    message: expect.stringContaining("(process 4711) did not answer within 0 s; if it hangs, end it with kill -9 4711"),
  });
  expect(io.text()).toBe(`rookery: the server at ${server.url} (process 4711) does not answer yet\n`);
});

it("says nothing about a server that answers, and leaves a closed port to the request", async () => {
  const io = collectingIo("/somewhere");
  const server = await listen((_, response) => response.writeHead(401).end("{}"));
  await requireAnsweringServer(io, server);
  server[Symbol.dispose]();
  await requireAnsweringServer(io, server);
  expect(io.text()).toBe("");
});
