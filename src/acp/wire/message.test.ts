import { describe, expect, it } from "vitest";
import { classifyLine, classifyLazily, formatRequestId, type RpcRequest } from "./message.ts";

describe("classifies a line as", () => {
  it.each([
    ["request", '{"jsonrpc":"2.0","id":1,"method":"a"}'],
    ["request", '{"id":"one","method":"a","params":"a string where an object belongs"}'],
    ["request", '{"id":null,"method":"a"}'],
    ["request", '{"id":1,"method":"a","result":2}'],
    ["notification", '{"jsonrpc":"2.0","method":"a"}'],
    ["notification", ' {"method":"","params":[1]} '],
    ["response", '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ["response", '{"id":1,"result":null}'],
    ["response", '{"id":1,"result":1,"error":null}'],
    ["response", '{"id":"one","error":{"code":1,"message":"m"}}'],
    ["response", '{"id":null,"error":{"code":1,"message":"m"}}'],
    ["response", '{"id":1,"error":{"code":1,"message":"m"},"result":null}'],
    ["response", '{"id":1}'],
    ["response", '{"id":1,"error":"out of memory"}'],
    ["invalid", "[]"],
    ["invalid", '[{"jsonrpc":"2.0","id":1,"method":"a"}]'],
    ["invalid", "{}"],
    ["invalid", "null"],
    ["invalid", "1"],
    ["invalid", '"Listening on port 3000"'],
    ["invalid", '{"id":{},"method":"a"}'],
    ["invalid", '{"id":true,"method":"a"}'],
    ["invalid", '{"id":1,"method":1}'],
    ["invalid", '{"result":1}'],
    ["noise", "Listening on port 3000"],
    ["noise", '{"jsonrpc":"2.0","id":1,"method":"a"'],
    ["noise", '{"id":1,"result":1} trailing'],
    ["noise", "\u001b]0;title\u0007"],
    ["noise", "   "],
    ["response", "\u001b[2K\r\u001b]0;title\u0007" + '{"id":1,"result":1}'],
  ])("%s: %s", (kind, line) => {
    expect(classifyLine(line).kind).toBe(kind);
  });
});

it("keeps unknown fields of a message", () => {
  const message = { jsonrpc: "2.0", id: 1, method: "a", params: { b: [1] }, _meta: { c: null }, later: true };
  expect(classifyLine(JSON.stringify(message))).toEqual({ kind: "request", message });
});

describe("returns an id as it was written", () => {
  it.each([
    ["0"],
    ["-7"],
    ["9007199254740991"],
    ["9007199254740993"],
    ["123456789012345678901234567890"],
    ["-9007199254740993"],
    ["1.5"],
    ["1e400"],
    ['""'],
    ['"a b"'],
    ['"12"'],
    ['"é😀\\u2028\\n\\"}"'],
    ["null"],
  ])("%s", (id) => {
    for (const line of [
      `{"jsonrpc":"2.0","id":${id},"method":"a"}`,
      `{"params":{"id":8.5,"s":"\\"id\\":9.5"},"method":"a","id" : ${id} }`,
      `{"id":7.5,"method":"a","id":${id}}`,
    ]) {
      const written = formatRequestId((JSON.parse(line) as RpcRequest).id, line);
      if (id.startsWith('"')) expect(JSON.parse(written)).toBe(JSON.parse(id));
      else expect(written).toBe(id);
    }
  });
});

describe("lazy classification", () => {
  const update = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"n":1}}}';

  it("recognizes an update by its beginning and end and parses it on access", () => {
    const seen = classifyLazily(update);
    expect(seen).toMatchObject({ kind: "notification", message: { method: "session/update" } });
    expect(seen.kind === "notification" && seen.message.params).toEqual({ sessionId: "s", update: { n: 1 } });
  });

  it.each([
    ["a request", update.replace(/\}$/, ',"id":1}'), "request"],
    ["a truncated update", update.slice(0, -2), "noise"],
    ["another method", update.replace("session/update", "session/other"), "notification"],
    ["a response", '{"jsonrpc":"2.0","id":1,"result":{}}', "response"],
  ])("parses %s like the full classification", (_, line, kind) => {
    expect(classifyLazily(line).kind).toBe(kind);
    expect(classifyLazily(line)).toEqual(classifyLine(line));
  });

  it("returns null params for an update that is malformed inside", () => {
    const seen = classifyLazily(update.replace('"n":1', '"n":'));
    expect(seen.kind === "notification" && seen.message.params).toBeNull();
  });
});
