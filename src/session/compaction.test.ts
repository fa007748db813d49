import { expect, it } from "vitest";
import { openScene } from "./test-scene.ts";
import { calls, say, transcript, type Script } from "../testing/index.ts";

/** A server that restarts its call IDs in each reply, like some do. */
const FIRST_CALL = "call_0";
const running = (command: string) => ({ id: FIRST_CALL, name: "bash", input: { command } });
const script: Script = ({ system, messages, toolResults }) => {
  if (system.includes("too long to continue")) return say("Ran one.");
  if (toolResults.length > 0) return say("Done.");
  const isSummarized = messages[0]?.text.includes("This is the summary") === true;
  if (isSummarized) return calls([running("echo two >> ran")]);
  return calls([running("echo one >> ran")], { usage: { input: 180_000, output: 100 } });
};

it("asks again for a call with a reused ID after the context was compacted", async () => {
  await using s = await openScene(script, { model: "anthropic/claude-haiku-4-5" });
  const asked: string[] = [];
  const turn = s.session.prompt("go");
  for await (const event of turn) {
    if (event.type !== "permission.requested") continue;
    asked.push(event.title);
    await s.session.answer(event.requestId, { decision: asked.length === 1 ? "allow" : "deny" });
  }
  expect(await turn.outcome).toMatchObject({ status: "done" });
  expect(asked).toHaveLength(2);
  expect(await s.file("ran")).toBe("one\n");
  expect(transcript(await s.events(s.session.id))).toContain("tool denied");
});
