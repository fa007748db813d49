import { describe, expect, it } from "vitest";
import { scene } from "./test-scene.ts";

const NOT_JSON = [
  "Listening on port 3000",
  '{"jsonrpc":"2.0","id":1,"method":"a"',
  "\u001b]0;title\u0007",
  "{]",
  "NaN",
];
const NO_MESSAGE = [
  "[]",
  '[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]',
  '"a string where an object belongs"',
  "null",
  "17",
  "{}",
  '{"id":{"a":1},"method":"a"}',
  '{"id":[],"method":"a"}',
  '{"method":7}',
  '{"jsonrpc":"2.0","result":{}}',
];

describe("a line that is not a message", () => {
  it.each([...NOT_JSON.map((line) => ["not_json", line]), ...NO_MESSAGE.map((line) => ["not_a_message", line])])(
    "is reported and not answered, and the connection continues (%s): %s",
    async (kind, line) => {
      const peer = scene({ request: () => 1, notification: () => expect.unreachable() });
      peer.send(line);
      expect(await peer.ask("a")).toMatchObject({ result: 1 });
      expect(peer.noise).toEqual([{ kind, text: line }]);
      expect(peer.lines).toHaveLength(1);
    },
  );

  it.each([...NOT_JSON.map((line) => [-32700, line] as const), ...NO_MESSAGE.map((line) => [-32600, line] as const)])(
    "is answered with %d if configured: %s",
    async (code, line) => {
      const peer = scene({ request: () => 1 }, { malformed: "answer" });
      peer.send(line);
      await peer.ask("a");
      expect(peer.messages).toMatchObject([{ id: null, error: { code } }, { result: 1 }]);
      expect(peer.noise).toHaveLength(1);
    },
  );

  it("is answered with the reason", async () => {
    const peer = scene({ request: () => 1 }, { malformed: "answer" });
    peer.send("[]", "1", '{"method":1}');
    await peer.ask("a");
    expect(peer.messages.map(({ error }) => error?.message)).toEqual([
      "a batch is not part of the protocol",
      "a message must be an object",
      "a method must be a string",
      undefined,
    ]);
  });

  it("is answered under its id if it has one", async () => {
    const peer = scene({ request: () => 1 }, { malformed: "answer" });
    peer.send('{"id":12345678901234567890,"method":["a"]}', '{"id":"x","method":{}}');
    await peer.ask("a");
    expect(peer.lines.map((line) => /"id":([^,]+)/.exec(line)?.[1])).toEqual([
      "12345678901234567890",
      '"x"',
      expect.any(String),
    ]);
  });

  it("is never answered if it is a response, because both sides count their ids from one", async () => {
    const peer = scene({ request: () => 1 }, { malformed: "answer" });
    peer.send(
      '{"id":1}',
      '{"id":1,"error":"no"}',
      '{"id":2,"result":{}}',
      '{"id":null,"error":{"code":1,"message":"m"}}',
    );
    await peer.ask("a");
    expect(peer.lines).toHaveLength(1);
    expect(peer.noise.map(({ kind }) => kind)).toEqual(Array.from({ length: 4 }, () => "response_to_nothing"));
  });

  it("is reported in order and truncated if it is long", async () => {
    const seen: string[] = [];
    const peer = scene({
      request: () => 1,
      notification: ({ method }) => void seen.push(method),
      noise: ({ text }) => void seen.push(`${text.slice(0, 3)} ${text.length <= 2_000 ? "cut" : "whole"}`),
    });
    peer.send({ method: "one" }, "x".repeat(1_000_000), { method: "two" }, "y", { method: "three" });
    await peer.ask("a");
    expect(seen).toEqual(["one", "xxx cut", "two", "y cut", "three"]);
  });

  it("needs no listener", async () => {
    const peer = scene({ request: () => 1, noise: undefined as never });
    peer.send("x", "[]", { id: 1, result: 1 });
    expect(await peer.ask("a")).toMatchObject({ result: 1 });
  });
});

describe("the bytes of a line", () => {
  it("may arrive in any pieces, with CRLF, and without a final newline", async () => {
    const seen: unknown[] = [];
    const peer = scene({ notification: ({ params }) => void seen.push(params) });
    const text =
      '{"method":"n","params":"é€😀"}\r\n\r\n{"method":"n","params":"two"}\r\n{"method":"n","params":"last"}';
    for (const byte of Buffer.from(text)) peer.input.write(Buffer.from([byte]));
    peer.input.end();
    await peer.connection.inputEnded;
    expect(seen).toEqual(["é€😀", "two", "last"]);
  });

  it("damage only one message if they are not UTF-8", async () => {
    const seen: unknown[] = [];
    const peer = scene({ request: () => 1, notification: ({ params }) => void seen.push(params) });
    peer.input.write(
      Buffer.concat([Buffer.from('{"method":"n","params":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}\n')]),
    );
    peer.input.write(Buffer.from([0xf0, 0x9f, 10]));
    await peer.ask("a");
    expect(seen).toEqual(["\ufffd\ufffd"]);
    expect(peer.noise).toMatchObject([{ kind: "not_json" }]);
  });
});
