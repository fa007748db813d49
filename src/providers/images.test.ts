import { describe, expect, it } from "vitest";
import type { BlobPart } from "../domain/index.ts";
import { say, startModelServer } from "../testing/index.ts";
import type { CompletionMessage } from "../domain/model.ts";
import { image, openTestModel, requestReply, text, user, WIRES } from "./test-models.ts";

const MEGABYTE = 1024 * 1024;

describe.each(WIRES)("an image over %s", (wire) => {
  it("is sent between the texts around it, in its turn and later", async () => {
    await using server = await startModelServer([say("Ok."), say("Ok.")]);
    const model = openTestModel(wire, server.url);
    const message: CompletionMessage = {
      role: "user",
      parts: [text("Before"), image("the bytes"), text("after"), text("more")],
    };
    await requestReply(model, [message]);
    await requestReply(model, [message, { role: "assistant", text: "Ok.", calls: [] }, user("And?")]);
    for (const { body } of server.requests) {
      const sent = JSON.stringify(body);
      const places = ["Before", base64("the bytes"), "after\\nmore"].map((piece) => sent.indexOf(piece));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
  });

  it("of a tool result is sent with the result", async () => {
    await using server = await startModelServer([say("Ok.")]);
    const calls = [{ toolId: "t", name: "bash", input: {} }];
    const results = [{ toolId: "t", name: "bash", text: "a cat", failed: false, blobs: [image("the cat")] }];
    await requestReply(openTestModel(wire, server.url), [
      user("Go"),
      { role: "assistant", text: "", calls },
      { role: "tool", results },
    ]);
    expect(server.problems).toEqual([]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain(base64("the cat"));
  });

  it("gets the media type of its bytes", async () => {
    await using server = await startModelServer([say("Ok.")]);
    await requestReply(openTestModel(wire, server.url), [{ role: "user", parts: [image("GIF89a")] }]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain("image/gif");
  });
});

describe("an attachment", () => {
  const sentBy = async (messages: readonly CompletionMessage[], images = true) => {
    await using server = await startModelServer([say("Ok.")]);
    const providers = new Map([["anthropic", { images }]]);
    await requestReply(openTestModel("anthropic", server.url, { providers }), messages);
    return JSON.stringify(server.requests[0]?.body);
  };

  it.each<[string, BlobPart, boolean]>([
    ["with an unsupported media type", { ...image("h"), mediaType: "image/tiff" }, true],
    ["whose bytes are missing", image("gone"), true],
    ["for a provider that accepts no images", image("h"), false],
  ])("%s is replaced by its name", async (_, part, images) => {
    const sent = await sentBy([{ role: "user", parts: [text("See"), { ...part, name: "cat" }] }], images);
    expect(sent).toContain("See\\n[attachment not available to you: cat]");
    expect(sent).not.toContain('"type":"image"');
  });

  it("is rejected with input_too_large before anything is sent, and replaced by its name in later turns", async () => {
    const large = { ...image("x".repeat(4 * MEGABYTE)), name: "cat.png" };
    const message: CompletionMessage = { role: "user", parts: [large] };
    await using server = await startModelServer([]);
    await expect(requestReply(openTestModel("anthropic", server.url), [message])).rejects.toMatchObject({
      code: "input_too_large",
      message: expect.stringContaining("cat.png") as string,
    });
    expect(server.requests).toEqual([]);
    expect(await sentBy([message, user("Never mind")])).toContain("attachment not available to you: cat.png");
  });

  it.each([
    ["many", 25, "", 14],
    ["large", 7, "x".repeat(3 * MEGABYTE), 3],
  ])("is dropped with the older half if there are too %s", async (_, count, filling, kept) => {
    const names = Array.from({ length: count }, (_, index) => `image ${index}${filling}`);
    const sent = await sentBy(names.map((name): CompletionMessage => ({ role: "user", parts: [image(name)] })));
    expect(names.map((name) => sent.includes(base64(name)))).toEqual(names.map((_, index) => index >= count - kept));
    await using server = await startModelServer([]);
    const atOnce: CompletionMessage = { role: "user", parts: names.map((name) => image(name)) };
    await expect(requestReply(openTestModel("anthropic", server.url), [atOnce])).rejects.toMatchObject({
      code: "input_too_large",
    });
  });

  it("stays in later requests, so that their beginning changes rarely", async () => {
    const names = Array.from({ length: 45 }, (_, index) => `image ${index}!`);
    const given: boolean[][] = [];
    for (let count = 1; count <= names.length; count += 1) {
      const sent = await sentBy(
        names.slice(0, count).map((name): CompletionMessage => ({ role: "user", parts: [image(name)] })),
      );
      given.push(names.slice(0, count).map((name) => sent.includes(base64(name))));
    }
    const changes = given.slice(1).filter((now, index) => now.slice(0, -1).join() !== given[index]?.join());
    expect(changes).toHaveLength(3);
    expect(given.every((now) => now.at(-1))).toBe(true);
  });

  it("counts once if it appears twice", async () => {
    const parts = Array.from({ length: 30 }, () => image("same"));
    expect((await sentBy([{ role: "user", parts }])).split(base64("same"))).toHaveLength(31);
  });
});

function base64(value: string): string {
  return Buffer.from(value).toString("base64");
}
