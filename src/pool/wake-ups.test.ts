import { expect, it } from "vitest";
import type { Store } from "../domain/index.ts";
import { Rookery } from "../rookery.ts";
import { deferred, ownIdentity } from "../stdx/index.ts";
import { createTask, numbers } from "../store/contract/scene.ts";
import { openMemoryStore } from "../store/index.ts";
import { openScene } from "./test-scene.ts";

it("sends no queries per task while nothing happens", async () => {
  await using s = await openScene();
  await using store = openMemoryStore();
  const { pid, startTime } = ownIdentity();
  for (const number of numbers(1, 40)) {
    await createTask(store, `t${number}`);
    const owner = `${pid}.${startTime}.other/task-${number}`; // a live process
    await store.claimTask({ owner, now: 0, until: Date.now() + 60_000, choose: ([first]) => first?.id });
  }
  const looked = deferred();
  const calls: string[] = [];
  const counted = onCall(store, (name) => {
    calls.push(name);
    if (calls.filter((other) => other === "claimTask").length === 3) looked.resolve();
  });
  const rookery = await Rookery.open({ env: s.env, cwd: s.repository.path, store: counted });
  const stop = new AbortController();
  const running = rookery.runTasks({ signal: stop.signal });
  await looked.promise;
  stop.abort();
  await running;
  await rookery.close();
  expect(calls.filter((name) => name === "heldTasks")).toHaveLength(1);
  expect(new Set(calls)).toEqual(new Set(["watchTasks", "heldTasks", "claimTask"]));
});

it("takes a task that another process has created, and stops it when another process asks for it", async () => {
  await using s = await openScene();
  s.run();
  const other = await s.open();
  await other.tasks.start({ id: "long", prompt: "run: sleep 60" });
  await s.until("long", "running");
  expect(await other.tasks.stop("long")).toMatchObject({ status: "stopped" });
});

function onCall(store: Store, notify: (name: string) => void): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || typeof name === "symbol") return value;
      return (...args: unknown[]): unknown => {
        notify(name);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}
