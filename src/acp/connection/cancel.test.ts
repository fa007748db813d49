import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { PeerError, type IncomingRequest } from "../index.ts";
import { scene } from "./test-scene.ts";

const cancelOf = (requestId: unknown) => ({ method: "$/cancel_request", params: { requestId } });

describe("aborting our request", () => {
  it("cancels it at the peer once and waits for the answer", async () => {
    const peer = scene();
    const abort = new AbortController();
    const asked = peer.connection.request("a", undefined, { signal: abort.signal });
    await peer.call("a");
    abort.abort();
    abort.abort();
    await peer.call("$/cancel_request");
    peer.send({ id: 1, error: { code: -32800, message: "cancelled" } });
    await expect(asked).rejects.toMatchObject({ code: -32800 });
    await peer.ask("b");
    expect(peer.lines.slice(0, 2)).toEqual([
      '{"jsonrpc":"2.0","id":1,"method":"a"}',
      '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}',
    ]);
    expect(peer.lines).toHaveLength(3);
  });

  it("still accepts a result that was in transit", async () => {
    const peer = scene();
    const abort = new AbortController();
    const asked = peer.connection.request("a", undefined, { signal: abort.signal });
    abort.abort();
    await peer.call("$/cancel_request");
    peer.send({ id: 1, result: "done anyway" });
    await expect(asked).resolves.toBe("done anyway");
  });

  it("sends the request and the cancel if the signal has already fired", async () => {
    const peer = scene();
    const asked = peer.connection.request("a", undefined, { signal: AbortSignal.abort() });
    await peer.call("$/cancel_request");
    expect(peer.messages.map(({ method }) => method)).toEqual(["a", "$/cancel_request"]);
    peer.send({ id: 1, result: null });
    await asked;
  });

  it("sends nothing once it is answered and removes its listener", async () => {
    const peer = scene({ request: () => 1 });
    const { signal, abort } = aborting();
    const asked = peer.connection.request("a", undefined, { signal });
    peer.send({ id: 1, result: 1 });
    await asked;
    expect(getEventListeners(signal, "abort")).toEqual([]);
    abort();
    await peer.ask("b");
    expect(peer.lines).toHaveLength(2);
  });

  it("sends nothing once the connection has ended", async () => {
    const peer = scene();
    const { signal, abort } = aborting();
    const asked = peer.connection.request("a", undefined, { signal }).catch((error: unknown) => error);
    peer.input.end();
    await peer.connection.inputEnded;
    abort();
    expect(await asked).toMatchObject({ end: "eof" });
    await peer.connection.closed;
    expect(peer.lines).toHaveLength(1);
  });

  it("cancels a forwarded request under the id of this connection", async () => {
    const peer = scene();
    const { signal, abort } = aborting();
    const asked = peer.connection.forward('{"id":"theirs","method":"a"}', "a", { signal });
    abort();
    expect(await peer.call("$/cancel_request")).toMatchObject({ params: { requestId: 1 } });
    peer.send({ id: 1, error: { code: -32800, message: "m" } });
    expect(await asked).toMatchObject({ error: { code: -32800 } });
  });
});

describe("when the peer cancels a request", () => {
  it.each([
    ["an integer", "7"],
    ["a string", '"seven"'],
    ["a string of digits", '"7"'],
    ["a number that JavaScript cannot hold", "12345678901234567890"],
    ["a fraction", "7.5"],
  ])("answers it as cancelled if it runs, with an id that is %s", async (_what, id) => {
    const peer = scene({ request: untilAborted });
    peer.send(`{"id":${id},"method":"a"}`, `{"method":"$/cancel_request","params":{"requestId":${id}}}`);
    await peer.until(() => peer.lines.length === 1, "the answer");
    expect(peer.lines[0]).toMatch(new RegExp(`^{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,`));
  });

  it("sends the handler's own answer", async () => {
    const peer = scene({
      request: async (request) => {
        await untilAborted(request).catch(() => undefined);
        return { stopReason: "cancelled" };
      },
    });
    peer.send({ id: 1, method: "a" }, cancelOf(1));
    expect(await peer.answer(1)).toMatchObject({ result: { stopReason: "cancelled" } });
  });

  it("answers it as cancelled if its handler fails because of that", async () => {
    const peer = scene({
      request: async (request) => {
        await untilAborted(request).catch(() => undefined);
        throw new Error("the read was aborted");
      },
    });
    peer.send({ id: 1, method: "a" }, cancelOf(1));
    expect(await peer.answer(1)).toMatchObject({ error: { code: -32800 } });
  });

  it("sends the handler's own error", async () => {
    const peer = scene({
      request: async (request) => {
        await untilAborted(request).catch(() => undefined);
        throw new PeerError({ code: -1, message: "own", more: true } as never);
      },
    });
    peer.send({ id: 1, method: "a" }, cancelOf(1));
    expect(await peer.answer(1)).toMatchObject({ error: { code: -1, message: "own", more: true } });
  });

  it.each([["7"], ['"7"'], ["12345678901234567890"]])(
    "answers it without calling its handler if it is still queued (%s)",
    async (id) => {
      const first = deferred();
      const aborted: unknown[] = [];
      const peer = scene({
        notification: () => first.promise,
        request: ({ signal }) => {
          aborted.push(signal.aborted);
          signal.throwIfAborted();
        },
      });
      peer.send({ method: "slow" }, `{"id":${id},"method":"a"}`, { id: "other", method: "a" });
      peer.send(`{"method":"$/cancel_request","params":{"requestId":${id}}}`);
      expect(aborted).toEqual([]);
      first.resolve();
      await peer.answer("other");
      expect(aborted).toEqual([false]);
      expect(peer.lines[0]).toMatch(new RegExp(`^{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,`));
    },
  );

  it.each([
    ["is already answered", 1],
    ["was never used", 2],
    ["is a string with the same digits", "3"],
    ["is a number close to another", 3.5],
  ])("nothing happens if the id %s", async (_what, id) => {
    const open = deferred<string>();
    const aborted: boolean[] = [];
    const peer = scene({
      request: async ({ method, signal }) => {
        if (method === "open") return open.promise.finally(() => aborted.push(signal.aborted));
        await Promise.resolve();
        aborted.push(signal.aborted);
        return 1;
      },
    });
    peer.send({ id: 3, method: "open" }, { id: 1, method: "a" });
    await peer.answer(1);
    peer.send(cancelOf(id));
    await peer.ask("a");
    peer.send({ id, method: "a" });
    await peer.until(() => peer.lines.length === 3, "the answer under that id");
    open.resolve("done");
    expect(await peer.answer(3)).toMatchObject({ result: "done" });
    expect(aborted).toEqual([false, false, false, false]);
    expect(peer.lines).toHaveLength(4);
  });

  it.each(["{}", "null", '"1"', "[]", '{"requestId":{}}', '{"requestId":[1]}', '{"requestId":true}'])(
    "nothing happens if the params are %s",
    async (params) => {
      const peer = scene({ request: ({ signal }) => signal.aborted, notification: () => expect.unreachable() });
      peer.send(`{"method":"$/cancel_request","params":${params}}`, '{"method":"$/cancel_request"}');
      expect(await peer.ask("a")).toMatchObject({ result: false });
      expect(peer.noise).toEqual([]);
    },
  );

  it("under a duplicate id, the running request is cancelled and both are answered", async () => {
    const peer = scene({ request: untilAborted });
    peer.send({ id: 1, method: "a" }, { id: 1, method: "a" }, cancelOf(1));
    await peer.until(() => peer.lines.length === 2, "both answers");
    expect(peer.messages.map(({ error }) => error?.code)).toEqual([-32600, -32800]);
  });
});

function untilAborted({ signal }: IncomingRequest): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

function aborting(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
