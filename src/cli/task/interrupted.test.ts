import { expect, it } from "vitest";
import type { TaskView } from "../../domain/task/view.ts";
import { markInterrupted } from "./interrupted.ts";
import type { TaskService } from "./service.ts";

const HOUR = 60 * 60_000;

function serviceWith(abandoned: boolean, lastEventAt: number | undefined): TaskService {
  const runner = {
    run: async () => undefined,
    hasWorkers: async () => false,
    isAbandoned: async () => abandoned,
    lastEventAt: async () => lastEventAt,
  };
  return { runner } as unknown as TaskService;
}

it("stops the clock of an interrupted task at its last event", async () => {
  const task = { id: "a", status: "waiting", ranMs: HOUR + 5_000 } as TaskView;
  const now = Date.now();
  const shown = await markInterrupted(serviceWith(true, now - HOUR), task);
  expect(shown.interrupted).toBe(true);
  expect(shown.ranMs).toBeLessThanOrEqual(5_000);
  expect((await markInterrupted(serviceWith(false, now - HOUR), task)).ranMs).toBe(HOUR + 5_000);
  expect((await markInterrupted(serviceWith(true, undefined), task)).ranMs).toBe(HOUR + 5_000);
});
