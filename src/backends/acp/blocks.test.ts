import { expect, it } from "vitest";
import { acceptsAttachment, toContentBlock } from "./blocks.ts";

const EVERYTHING = { image: true, audio: true, embeddedContext: true };
const attach = (mediaType: string) => ({ type: "attachment", mediaType, name: "a", data: "AA==" }) as const;

it("sends images and audio as such, and other attachments as resources", () => {
  expect(toContentBlock({ type: "text", text: "Fix it" }, {})).toEqual({ type: "text", text: "Fix it" });
  expect(toContentBlock(attach("image/png"), EVERYTHING)).toEqual({
    type: "image",
    data: "AA==",
    mimeType: "image/png",
  });
  expect(toContentBlock(attach("audio/wav"), EVERYTHING)).toMatchObject({ type: "audio", mimeType: "audio/wav" });
  const resource = { uri: "rookery:a", blob: "AA==", mimeType: "application/pdf" };
  expect(toContentBlock(attach("application/pdf"), EVERYTHING)).toEqual({ type: "resource", resource });
  const image = { ...resource, mimeType: "image/png" };
  expect(toContentBlock(attach("image/png"), { embeddedContext: true })).toEqual({ type: "resource", resource: image });
});

it.each([
  ["image/png", {}, false],
  ["image/png", { image: true }, true],
  ["audio/wav", { image: true }, false],
  ["audio/wav", { audio: true }, true],
  ["application/pdf", { image: true, audio: true }, false],
  ["application/pdf", { embeddedContext: true }, true],
])("accepts %s from an agent with the capabilities %o: %s", (mediaType, capabilities, accepted) => {
  expect(acceptsAttachment(mediaType, capabilities)).toBe(accepted);
});
