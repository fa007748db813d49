import { expect, it } from "vitest";
import { toPromptBlocks } from "./blocks.ts";

it("tells an agent that continues after a limit to continue instead of repeating the prompt", async () => {
  const turn = { input: [{ type: "text" as const, text: "Fix it" }], blob: () => Promise.resolve(undefined) };
  expect(await toPromptBlocks(turn)).toEqual([{ type: "text", text: "Fix it" }]);
  const [first, second] = await toPromptBlocks({ ...turn, continued: true });
  expect(first).toMatchObject({ text: expect.stringContaining("Continue what you were doing") as string });
  expect(second).toEqual({ type: "text", text: "Fix it" });
});
