import { expect, it } from "vitest";
import { FollowUps } from "./follow-ups.ts";

it("keeps follow-ups in order, shows them as queued, and refuses too many", () => {
  const followUps = new FollowUps();
  const prompts = Array.from({ length: 20 }, (_, index) => `prompt ${index}`);
  for (const prompt of prompts) expect(followUps.add({ prompt, outputs: [] })).toBe(true);
  expect(followUps.add({ prompt: "one more", outputs: [] })).toBe(false);
  expect(followUps.queued[0]).toMatchObject({ input: [{ text: "prompt 0" }], deliver: "follow_up" });
  expect(followUps.takeFirst()?.prompt).toBe("prompt 0");
  expect(followUps.takeAll().map(({ prompt }) => prompt)).toEqual(prompts.slice(1));
  expect(followUps.takeFirst()).toBeUndefined();
  expect(followUps.queued).toEqual([]);
});
