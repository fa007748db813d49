import { expect, it } from "vitest";
import { openScene } from "./test-scene.ts";

const says = (text: string) => ({ say: text });

it("reads what the agent says until it stops", async () => {
  await using scene = await openScene({ prompts: [[says("Hello "), says("there")]] });
  const session = await scene.client.session("/work").create();
  const turn = session.prompt("Hi");
  expect(await turn.readText()).toBe("Hello there");
  expect(await turn.stopReason).toBe("end_turn");
});
