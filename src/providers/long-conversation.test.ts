import { expect, it } from "vitest";
import { WorkPerTurn } from "../stdx/test-work-per-turn.ts";
import { say, startModelServer } from "../testing/index.ts";
import type { CompletionMessage } from "../domain/model.ts";
import { openTestModel, requestReply, user, WIRES } from "./test-models.ts";

const COUNT = 2_000;

it.each(WIRES)("does not block the event loop while it prepares a long conversation for %s", async (wire) => {
  await using server = await startModelServer([say("Ok.")]);
  using perTurn = new WorkPerTurn();
  const read = new Set<number>();
  const slowMessage = (index: number): CompletionMessage => ({
    role: "assistant",
    calls: [],
    get text() {
      if (!read.has(index)) perTurn.work();
      read.add(index);
      return `answer ${index}`;
    },
  });
  const messages = Array.from({ length: COUNT }, (_, index) => [user(`question ${index}`), slowMessage(index)]);
  expect(await requestReply(openTestModel(wire, server.url), [...messages.flat(), user("Go")])).toMatchObject({
    text: "Ok.",
  });
  expect(read.size).toBe(COUNT);
  expect(perTurn.max).toBeLessThanOrEqual(200); // a slice takes 8 ms plus the piece in progress
  expect(JSON.stringify(server.requests[0]?.body)).toContain(`answer ${COUNT - 1}`);
});
