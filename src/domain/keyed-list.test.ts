import { expect, it } from "vitest";
import { KeyedList } from "./keyed-list.ts";

interface Item {
  readonly key: string;
  readonly open: boolean;
}

it("visits each item only a few times, regardless of the number of changes", () => {
  const count = 10_000;
  let looks = 0;
  const keyOf = ({ key }: Item): string => {
    looks += 1;
    return key;
  };
  const list = new KeyedList<Item>([], { keyOf, isOpen: ({ open }) => open });
  for (let at = 0; at < count; at += 1) list.add({ key: String(at), open: true });
  for (let at = 0; at < count; at += 2) list.change(String(at), (item) => ({ ...item, open: false }));
  for (let at = 1; at < count; at += 2) list.remove(String(at));
  expect(list.count).toBe(count / 2);
  expect(looks).toBeLessThan(12 * count); // scans would need 50 million
});

it("keeps the order, and finds only open items", () => {
  const make = (key: string, open = true): Item => ({ key, open });
  const list = new KeyedList([make("a"), make("b"), make("a")], {
    keyOf: ({ key }) => key,
    isOpen: ({ open }) => open,
  });
  for (let turn = 0; turn < 10; turn += 1) {
    list.add(make("c"));
    list.remove("c"); // after the first few, it uses an index
  }
  list.change("a", ({ key }) => make(key, false));
  list.change("a", () => undefined);
  expect(list.find("a")).toBeUndefined();
  expect(list.find("b")).toEqual(make("b"));
  expect(list.toArray()).toEqual([make("a", false), make("b"), make("a", false)]);
  list.keep(({ open }) => !open);
  expect(list.toArray()).toEqual([make("a", false), make("a", false)]);
});
