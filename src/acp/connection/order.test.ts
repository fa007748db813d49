import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { scene } from "./test-scene.ts";

describe("handling messages one at a time in wire order", () => {
  it("waits for the handlers of notifications", async () => {
    const seen: string[] = [];
    const peer = scene({
      notification: async ({ method }) => {
        seen.push(`${method} begins`);
        for (let turn = method.length % 3; turn > 0; turn -= 1) await nextTurn();
        seen.push(`${method} ends`);
      },
      request: ({ method }) => void seen.push(method),
    });
    peer.send(
      { method: "ab" },
      { method: "c" },
      { id: 1, method: "asked" },
      { method: "def" },
      { id: 2, method: "again" },
    );
    await peer.answer(2);
    expect(seen).toEqual(["ab begins", "ab ends", "c begins", "c ends", "asked", "def begins", "def ends", "again"]);
  });

  it("continues after a handler fails", async () => {
    const seen: string[] = [];
    const peer = scene({
      notification: async ({ method }) => {
        await nextTurn();
        seen.push(method);
        throw new Error("no");
      },
      request: () => seen.join(),
    });
    peer.send({ method: "one" }, { method: "two" });
    expect(await peer.ask("a")).toMatchObject({ result: "one,two" });
  });

  it("only starts the handler of a request, however long it takes", async () => {
    const prompt = deferred<string>();
    const seen: string[] = [];
    const peer = scene({
      request: ({ method }) => (method === "prompt" ? prompt.promise : seen.join()),
      notification: ({ method }) => void seen.push(method),
    });
    peer.send({ id: 1, method: "prompt" }, { method: "one" }, { method: "two" });
    expect(await peer.ask("a")).toMatchObject({ result: "one,two" });
    prompt.resolve("done");
    expect(await peer.answer(1)).toMatchObject({ result: "done" });
  });

  it("continues while a request handler waits for its own request to the peer", async () => {
    const seen: string[] = [];
    const peer = scene({
      request: ({ method }) => (method === "prompt" ? peer.connection.request("permission") : seen.join()),
      notification: async ({ method }) => {
        for (let turn = 0; turn < 10 && method === "slow"; turn += 1) await nextTurn();
        seen.push(method);
      },
    });
    peer.send({ id: 1, method: "prompt" }, { method: "slow" }, { method: "next" });
    expect(await peer.ask("a")).toMatchObject({ result: "slow,next" });
    peer.send({ id: 1, result: "granted" });
    expect(await peer.answer(1)).toMatchObject({ result: "granted" });
  });

  it("lets a request handler hold the queue", async () => {
    const [ready, held] = [deferred(), deferred()];
    const seen: string[] = [];
    const peer = scene({
      request: async (request) => {
        if (request.method !== "new") return seen.join();
        request.hold(held.promise);
        ready.resolve();
        await held.promise;
        return seen.push("new");
      },
      notification: ({ method }) => void seen.push(method),
    });
    peer.send({ id: 1, method: "new" }, { method: "update" });
    await ready.promise;
    await nextTurn();
    expect(seen).toEqual([]);
    held.reject(new Error("a hold that fails is over too"));
    expect(await peer.ask("a")).toMatchObject({ result: "update" });
  });

  it("lets a handler answer its request early, once", async () => {
    const peer = scene({
      request: (request) => {
        if (request.method === "good") request.respond("early");
        else request.fail(new Error("early"));
        return "late";
      },
    });
    expect(await peer.ask("good")).toMatchObject({ result: "early" });
    expect(await peer.ask("bad")).toMatchObject({ error: { message: "early" } });
    expect(peer.lines).toHaveLength(2);
  });
});

describe("an answer", () => {
  it("is delivered before the messages behind it are handled", async () => {
    const seen: string[] = [];
    const peer = scene({ notification: ({ method }) => void seen.push(method), request: () => seen.join() });
    const asked = (async () => {
      seen.push(String(await peer.connection.request("a")));
      await Promise.resolve();
      seen.push("continues");
    })();
    peer.send({ method: "before" }, { id: 1, result: "answer" }, { method: "after" });
    await asked;
    expect(await peer.ask("a")).toMatchObject({ result: "before,answer,continues,after" });
  });

  it("is delivered in the same order if it is an error", async () => {
    const seen: string[] = [];
    const peer = scene({ notification: ({ method }) => void seen.push(method), request: () => seen.join() });
    void peer.connection.request("a").catch((error: unknown) => seen.push(String(error)));
    peer.send({ id: 1, error: { code: 1, message: "no" } }, { method: "after" });
    expect(await peer.ask("a")).toMatchObject({ result: "PeerError: no,after" });
  });

  it("is passed to `onResponse` first, and later messages wait for that", async () => {
    const shown = deferred();
    const seen: string[] = [];
    const peer = scene({ notification: ({ method }) => void seen.push(method), request: () => seen.join() });
    const onResponse = async ({ line, result }: { line: string; result: unknown }) => {
      seen.push(`${String(result)} of ${line.length}`);
      await shown.promise;
      seen.push("shown");
    };
    const asked = peer.connection
      .request("a", undefined, { onResponse })
      .then((result) => seen.push(`has ${String(result)}`));
    peer.send('{"id":1, "result":"x"}', { method: "after" });
    await asked;
    expect(seen).toEqual(["x of 22", "has x"]);
    shown.resolve();
    expect(await peer.ask("a")).toMatchObject({ result: "x of 22,has x,shown,after" });
  });

  it.each([
    ["throws", () => raise(new Error("mine"))],
    ["rejects", () => Promise.reject(new Error("mine"))],
  ])("is delivered although `onResponse` %s", async (_how, onResponse) => {
    const peer = scene({ request: () => 1 });
    const asked = peer.connection.request("a", undefined, { onResponse });
    peer.send({ id: 1, result: "x" });
    await expect(asked).resolves.toBe("x");
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
  });
});

describe("a handler that calls the peer and waits", () => {
  it("gets its answer although other messages come first", async () => {
    const seen: string[] = [];
    const peer = scene({
      notification: async ({ method }) => {
        if (method === "asks") seen.push(`got ${String(await peer.connection.request("a"))}`);
        else seen.push(method);
      },
      request: () => seen.join(),
    });
    peer.send({ method: "asks" }, { method: "one" });
    await peer.call("a");
    peer.send({ method: "two" }, { id: 1, result: "it" }, { method: "three" });
    expect(await peer.ask("b")).toMatchObject({ result: "one,two,got it,three" });
  });

  it("may wait for something else before", async () => {
    const peer = scene({
      notification: async () => {
        await nextTurn();
        await peer.connection.request("a");
        await nextTurn();
        await peer.connection.request("b");
      },
      request: () => 1,
    });
    peer.send({ method: "asks" }, { method: "asks" });
    for (let id = 1; id <= 4; id += 1) {
      await peer.until(() => peer.lines.length >= id, "a call");
      peer.send({ id, result: id });
    }
    expect(await peer.ask("c")).toMatchObject({ result: 1 });
  });

  it("works although the next handler calls the peer too and gets its answer first", async () => {
    const seen: string[] = [];
    const peer = scene({
      notification: async ({ method }) => void seen.push(`${method} ${String(await peer.connection.request(method))}`),
      request: () => seen.join(),
    });
    peer.send({ method: "one" }, { method: "two" });
    await peer.call("two");
    peer.send({ id: 2, result: "B" }, { id: 1, result: "A" });
    expect(await peer.ask("a")).toMatchObject({ result: "two B,one A" });
  });

  it("gets its answer although the handler behind it blocks", async () => {
    const never = deferred();
    const seen: string[] = [];
    const peer = scene({
      notification: async ({ method }) => {
        if (method !== "asks") return never.promise;
        seen.push(String(await peer.connection.request("a")));
        never.resolve();
      },
      request: () => seen.join(),
    });
    peer.send({ method: "asks" }, { method: "waits" });
    await peer.call("a");
    peer.send({ id: 1, result: "it" });
    expect(await peer.ask("a")).toMatchObject({ result: "it" });
  });

  it("works from `onResponse` too", async () => {
    const peer = scene({ request: () => 1 });
    let second: unknown;
    const onResponse = async (): Promise<void> => {
      second = await peer.connection.request("b");
    };
    const asked = peer.connection.request("a", undefined, { onResponse });
    peer.send({ id: 1, result: 1 });
    await asked;
    await peer.call("b");
    peer.send({ id: 2, result: 2 });
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
    expect(second).toBe(2);
  });

  it("keeps its position if someone else makes an independent request", async () => {
    const first = deferred();
    const seen: string[] = [];
    const peer = scene({
      notification: async ({ method }) => {
        if (method === "one") await first.promise;
        seen.push(method);
      },
      request: () => seen.join(),
    });
    peer.send({ method: "one" }, { method: "two" });
    await nextTurn();
    const asked = peer.connection.request("a", undefined, { apart: true });
    await peer.call("a");
    await nextTurn();
    expect(seen).toEqual([]);
    first.resolve();
    peer.send({ id: 1, result: 1 });
    await asked;
    expect(await peer.ask("a")).toMatchObject({ result: "one,two" });
  });
});

it("uses new handlers from the next message on", async () => {
  const seen: string[] = [];
  const peer = scene({
    notification: () => {
      seen.push("first");
      peer.connection.handle({ notification: () => void seen.push("second"), request: () => seen.join() });
    },
  });
  peer.send({ method: "n" }, { method: "n" });
  expect(await peer.ask("a")).toMatchObject({ result: "first,second" });
});

function raise(error: Error): never {
  throw error;
}
