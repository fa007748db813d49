import { afterEach, beforeEach, expect, it } from "vitest";
import { createTask, newAppend, numbers, outputText, sessionOpened, TASK } from "../../store/contract/scene.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp();
  await createTask(scene.store);
  const texts = numbers(1, 50).map((seq) => outputText(String(seq)));
  await scene.store.append(newAppend(0, [sessionOpened({ task: TASK }), ...texts]));
  const at = new Date().toISOString();
  const events = [
    { type: "task.started", run: 1, owner: "test", at },
    { type: "task.ended", outcome: "done", at },
  ] as const;
  for (const [index, event] of events.entries()) {
    await scene.store.appendTask({ taskId: TASK, id: `app_log_${index}`, expectedHead: index + 1, events: [event] });
  }
});
afterEach(() => scene[Symbol.asyncDispose]());

it("returns the events of a task in pages, without those of its sessions", async () => {
  const { events, head } = (await scene.get(`/v1/tasks/${TASK}/log`)).json;
  expect(events.map(({ seq, type }) => [seq, type])).toEqual([
    [1, "task.created"],
    [2, "task.started"],
    [3, "task.ended"],
  ]);
  expect(head).toBe(3);
  const { events: page } = (await scene.get(`/v1/tasks/${TASK}/log?after=1&limit=1`)).json;
  expect(page.map(({ seq }) => seq)).toEqual([2]);
});

it("rejects an unknown task with task_not_found", async () => {
  expect((await scene.get("/v1/tasks/nobody/log")).json.code).toBe("task_not_found");
});
