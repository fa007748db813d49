import { expect, it } from "vitest";
import type { EventBody, TurnContext } from "../domain/index.ts";
import { openEquipment } from "./equipment.ts";

it.each([
  ["done", () => Promise.resolve({ status: "done" } as const)],
  ["failed", () => Promise.reject(new Error("a defect"))],
])("reports every turn end to plugins, including failures: %s", async (outcome, run) => {
  const seen: string[] = [];
  const plugin = {
    id: "p",
    version: "1",
    turnStarted: () => seen.push("started"),
    turnEnded: (turn: { outcome: string }) => seen.push(`ended ${turn.outcome}`),
  };
  await using equipment = await openEquipment({
    cwd: "/project",
    marker: "m",
    env: {},
    base: [],
    servers: [],
    plugins: [plugin],
  });
  const log = { record: (..._: EventBody[]) => undefined };
  const turn = { turnId: "t1", signal: new AbortController().signal, log } as unknown as TurnContext;
  await equipment.turn(turn, run).catch(() => undefined);
  expect(seen).toEqual(["started", `ended ${outcome}`]);
  expect(equipment.running).toBeUndefined();
});
