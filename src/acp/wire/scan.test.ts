import { describe, expect, it } from "vitest";
import { fuzz, type Random } from "../../programs/test-fuzz.ts";
import { findTopLevelSpans, replaceValue } from "./scan.ts";

function values(text: string): Record<string, string> {
  return Object.fromEntries([...findTopLevelSpans(text)].map(([key, { start, end }]) => [key, text.slice(start, end)]));
}

describe("the values of an object's own keys", () => {
  it("are found without those of nested keys", () => {
    const text = '{ "id" : 1 ,"a":{"id":2,"b":[{"id":3}]},\n"c":"\\"id\\":4","d":[],"e":null,"f\\u0041":-1.5e3}';
    expect(values(text)).toEqual({
      id: "1",
      a: '{"id":2,"b":[{"id":3}]}',
      c: '"\\"id\\":4"',
      d: "[]",
      e: "null",
      fA: "-1.5e3",
    });
  });

  it("are not affected by brackets, quotes and backslashes in strings", () => {
    const text = '{"a":"}]{[\\\\","b":["\\"]","\\\\"],"c":{"}":"{"},"d":1}';
    expect(values(text)).toEqual({ a: '"}]{[\\\\"', b: '["\\"]","\\\\"]', c: '{"}":"{"}', d: "1" });
  });

  it("are the last ones for duplicate keys, as in JSON.parse", () => {
    expect(values('{"id":1,"id":2}')).toEqual({ id: "2" });
  });

  it.each(["", "  ", "[1]", "1", '"id"', "null", "{}", "{", "log: {"])("are none in %j", (text) => {
    expect(values(text)).toEqual({});
  });

  it("are found up to the point where the text is truncated", () => {
    const text = '{"id":12,"method":"a","params":{"b":"c","d":[1,2]}}';
    for (let length = 0; length < text.length; length += 1) {
      const found = values(text.slice(0, length));
      for (const [key, value] of Object.entries(found)) expect(values(text)[key]).toBe(value);
      if (length > text.indexOf('"method"')) expect(found).toHaveProperty("id", "12");
    }
  });

  it("are found without an exception even if the rest is not JSON", () => {
    expect(values('{"\\x":1,"id":2}')).toEqual({});
    expect(values('{"a\tb":1,"id":2}')).toEqual({});
    return fuzz(300, (random) => {
      const text = `{"id":1,${random.text(40)}${JSON.stringify(random.value())}`;
      expect(values(text)).toHaveProperty("id", "1");
    });
  });

  it("equal those of JSON.parse for random objects", () => {
    return fuzz(500, (random) => {
      const object = anObject(random);
      const found = values(JSON.stringify(object, undefined, random.pick<number | string>(0, 1, "\t")));
      expect(
        Object.fromEntries(Object.entries(found).map(([key, text]) => [key, JSON.parse(text) as unknown])),
      ).toEqual(object);
    });
  });
});

describe("replacing a value", () => {
  it("leaves everything else byte for byte", () => {
    const text = '{ "jsonrpc":"2.0", "id" : 12345678901234567890, "x":1.0, "id2":{"id":1} }';
    expect(replaceValue(text, "id", '"new"')).toBe('{ "jsonrpc":"2.0", "id" : "new", "x":1.0, "id2":{"id":1} }');
  });

  it("returns undefined if the key is missing", () => {
    expect(replaceValue('{"a":{"id":1}}', "id", "2")).toBeUndefined();
  });

  it("changes nothing else in random objects", () => {
    return fuzz(300, (random) => {
      const object = { ...anObject(random), id: random.value(), ...anObject(random) };
      const text = replaceValue(JSON.stringify(object), "id", "7");
      expect(JSON.parse(text ?? "")).toEqual({ ...object, id: 7 });
    });
  });
});

function anObject(random: Random): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: random.below(6) }, (_, at) => [`${at}${random.text(3)}`, random.value(3)]),
  );
}
