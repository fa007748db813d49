import { expect, it } from "vitest";
import type { Store } from "../domain/index.ts";
import { deferred } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { say } from "../testing/index.ts";
import { openScene } from "./test-scene.ts";

/** Answers the append that ends a turn late, as a server does whose followers are faster. */
function answeringLate(store: Store, until: Promise<unknown>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "append") {
        return async (append: Parameters<Store["append"]>[0]) => {
          const appended = await target.append(append);
          if (append.events.some(({ type }) => type === "turn.ended")) await until;
          return appended;
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

it("accepts the next prompt when a loop over the events of a turn is over", async () => {
  const shown = deferred<undefined>();
  await using s = await openScene(() => say("hello"), {}, answeringLate(openMemoryStore(), shown.promise));
  for await (const { type } of s.session.prompt("one")) {
    if (type === "turn.ended") setImmediate(() => shown.resolve(undefined));
  }
  expect(await s.session.prompt("two").outcome).toMatchObject({ status: "done" });
});
