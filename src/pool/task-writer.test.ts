import { expect, it } from "vitest";
import { systemClock } from "../stdx/index.ts";
import { createTask, TASK } from "../store/contract/scene.ts";
import { openMemoryStore } from "../store/index.ts";
import { openTaskWriter } from "./task-writer.ts";

async function openHeldTask() {
  const store = openMemoryStore();
  await createTask(store);
  const parts = (owner: string) => ({ store, clock: systemClock, owner: `elsewhere-${owner}` });
  const holder = await openTaskWriter(parts("holder"), TASK);
  return { holder, openNext: () => openTaskWriter(parts("next"), TASK), store };
}

it("refuses a task that another process runs", async () => {
  const { holder, openNext } = await openHeldTask();
  await using _ = holder;
  await expect(openNext()).rejects.toMatchObject({ code: "task_state" });
});

it("waits until the process that ended a task has released it", async () => {
  const { holder, openNext, store } = await openHeldTask();
  await holder.write({ type: "task.ended", outcome: "failed" });
  const next = openNext();
  await store.task(TASK); // the next writer has found the lease of the other one by now
  await holder[Symbol.asyncDispose]();
  await using writer = await next;
  expect(writer.state.phase).toBe("failed");
});
