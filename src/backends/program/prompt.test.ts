import { expect, it } from "vitest";
import { promptParts } from "./prompt.ts";

const missing = () => Promise.resolve(undefined);
const twoBytes = () => Promise.resolve(new Uint8Array([1, 2]));

it("tells an agent that continues after a limit to continue instead of repeating the prompt", async () => {
  const turn = { input: [{ type: "text" as const, text: "Fix it" }], blob: missing };
  expect(await promptParts(turn)).toEqual([{ type: "text", text: "Fix it" }]);
  const [first, second] = await promptParts({ ...turn, continued: true });
  expect(first).toMatchObject({ text: expect.stringContaining("Continue what you were doing") as string });
  expect(second).toEqual({ type: "text", text: "Fix it" });
});

it("includes only the attachments that exist and that the program accepts", async () => {
  const part = { type: "blob", hash: "h1", name: "a", size: 2 } as const;
  const image = { ...part, mediaType: "image/png" };
  const pdf = { ...part, mediaType: "application/pdf" };
  const attached = { type: "attachment", name: "a", data: "AQI=" };
  expect(await promptParts({ input: [image, pdf], blob: twoBytes })).toMatchObject([
    { ...attached, mediaType: "image/png" },
    { type: "text" },
  ]);
  const isPdf = (mediaType: string) => mediaType === "application/pdf";
  expect(await promptParts({ input: [image, pdf], blob: twoBytes }, isPdf)).toMatchObject([
    { type: "text" },
    { ...attached, mediaType: "application/pdf" },
  ]);
  expect(await promptParts({ input: [image], blob: missing })).toMatchObject([{ type: "text" }]);
});
