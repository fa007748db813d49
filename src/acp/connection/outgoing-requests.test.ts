import { describe, expect, it } from "vitest";
import { PeerError, type RpcErrorObject } from "../index.ts";
import { scene } from "./test-scene.ts";

describe("a request to the peer", () => {
  it("resolves with the result, regardless of the order of the answers", async () => {
    const peer = scene();
    const asked = [
      peer.connection.request("a", { n: 1 }),
      peer.connection.request("b"),
      peer.connection.request("c", null),
    ];
    await peer.call("c");
    expect(peer.lines).toEqual([
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1}}',
      '{"jsonrpc":"2.0","id":2,"method":"b"}',
      '{"jsonrpc":"2.0","id":3,"method":"c","params":null}',
    ]);
    peer.send({ id: 3, result: "C" }, { id: 1, result: null }, { id: 2, result: { later: [1] } });
    expect(await Promise.all(asked)).toEqual([null, { later: [1] }, "C"]);
  });

  it("rejects with the peer's error and all of its fields", async () => {
    const raw = { code: -32000, message: "log in first", data: { methods: ["x"] }, docs: "there", extra: { a: null } };
    const error = await failure({ error: raw });
    expect(error).toBeInstanceOf(PeerError);
    expect(error).toMatchObject({ code: -32000, message: "log in first", data: { methods: ["x"] } });
    expect((error as PeerError).raw).toEqual(raw);
  });

  it("resolves with the result of an answer that also has a null error", async () => {
    const peer = scene();
    const asked = peer.connection.request("a");
    peer.send('{"id":1,"error":null,"result":2}');
    await expect(asked).resolves.toBe(2);
  });

  it.each([
    ["has an error that is a string", '{"id":1,"error":"out of memory"}', "out of memory"],
    ["has an error that is null and no result", '{"id":1,"error":null}', ""],
    ["has neither result nor error", '{"jsonrpc":"2.0","id":1}', ""],
    ["has an error that is a number", '{"id":1,"error":7}', ""],
    ["has an error without a message", '{"id":1,"error":{"code":-32000}}', ""],
  ])("rejects if the answer %s, and the connection continues", async (_how, line, said) => {
    const peer = scene({ request: () => 1 });
    const asked = peer.connection.request("a");
    peer.send(line);
    const error = await asked.catch((error: unknown) => error as PeerError);
    expect(error).toBeInstanceOf(PeerError);
    expect(error).toMatchObject({ code: expect.any(Number), message: expect.stringContaining(said) });
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
  });

  it.each([
    [
      "twice",
      [
        { id: 1, result: "first" },
        { id: 1, result: "second" },
      ],
      ["response_to_nothing"],
    ],
    [
      "after an answer to a string of the same digits",
      [
        { id: "1", result: "no" },
        { id: 1, result: "first" },
      ],
      ["response_to_nothing"],
    ],
    [
      "after an answer to nothing",
      [
        { id: 99, result: "no" },
        { id: null, result: 0 },
        { id: 1, result: "first" },
      ],
      ["response_to_nothing", "response_to_nothing"],
    ],
  ] as const)(
    "uses the first answer if it is answered %s, and reports the rest as noise",
    async (_how, answers, noise) => {
      const peer = scene({ request: () => 1 });
      const asked = peer.connection.request("a");
      peer.send(...answers);
      await expect(asked).resolves.toBe("first");
      await peer.ask("a");
      expect(peer.noise.map(({ kind }) => kind)).toEqual(noise);
      expect(peer.lines).toHaveLength(2);
    },
  );

  it.each([
    ["a BigInt", 1n],
    ["a thing that holds itself", cyclic()],
  ])("rejects if its params are not serializable: %s", async (_what, params) => {
    const peer = scene({ request: () => 1 });
    await expect(peer.connection.request("a", params)).rejects.toThrow(TypeError);
    await expect(peer.connection.notify("a", params)).rejects.toThrow(TypeError);
    await peer.ask("a");
    expect(peer.lines).toHaveLength(1);
  });
});

describe("a message of another peer", () => {
  it("is forwarded unchanged with an id of this connection, and its answer is returned as it came", async () => {
    const peer = scene();
    const asked = peer.connection.forward('{"_x":1.0, "id":"theirs", "method":"a", "params":{"id":1}}', "a");
    void peer.connection.passOn('{"method":"n", "params":1.0}');
    await peer.call("n");
    expect(peer.lines).toEqual(['{"_x":1.0, "id":1, "method":"a", "params":{"id":1}}', '{"method":"n", "params":1.0}']);
    const answer = '{ "error":{"code":7,"message":"m","x":1.0},"id" :1,"_meta":{}}';
    peer.send(answer);
    expect(await asked).toMatchObject({ line: answer, error: { code: 7, message: "m", x: 1 } });
  });

  it("is answered with the forwarded answer under its own id", async () => {
    const behind = scene();
    const peer = scene({ request: ({ line, method }) => behind.connection.forward(line, method) });
    peer.send('{"id":12345678901234567890,"method":"a"}');
    await behind.call("a");
    behind.send('{"result":{"big":12345678901234567890,"id":1.0}, "later":1, "id": 1}');
    await peer.until(() => peer.lines.length === 1, "the answer");
    expect(peer.lines).toEqual([
      '{"result":{"big":12345678901234567890,"id":1.0}, "later":1, "id": 12345678901234567890}',
    ]);
  });
});

async function failure({ error }: { error: RpcErrorObject }): Promise<unknown> {
  const peer = scene();
  const asked = peer.connection.request("a");
  peer.send({ id: 1, error });
  return asked.catch((reason: unknown) => reason);
}

function cyclic(): unknown {
  const self: unknown[] = [];
  self.push(self);
  return self;
}
