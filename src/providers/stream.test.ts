import { describe, expect, it } from "vitest";
import type { BlobPart, InputPart, ToolSpec } from "../domain/index.ts";
import { call, calls, fault, say, startModelServer, type Reply } from "../testing/index.ts";
import { CLIENTS, CLIENT_NAMES, FAKE_KEY, type ClientName } from "../testing/model-server/test-clients.ts";
import type { ImageLimits } from "./images.ts";
import type { Message, Model, ModelReply } from "./model.ts";
import { streamedModel } from "./stream.ts";

const BASH: ToolSpec = {
  name: "bash",
  description: "Runs a command",
  inputSchema: { type: "object", properties: { command: { type: "string" } } },
  kind: "execute",
  readOnly: false,
};

const IMAGES = { mediaTypes: ["image/png"], bytes: 1_000_000 };

function modelOver(client: ClientName, baseUrl: string, images: { images?: ImageLimits } = { images: IMAGES }): Model {
  const endpoint = { provider: client, model: "m", baseUrl, keyVariable: "KEY", urlVariable: "URL" };
  return streamedModel(CLIENTS[client](baseUrl, FAKE_KEY), { ...endpoint, ...images });
}

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });

/** The bytes of a blob are those of its name. */
const blob = (hash: string) => Promise.resolve(hash === "gone" ? undefined : Buffer.from(hash));

async function replyTo(model: Model, messages: readonly Message[] = [user("Go")]): Promise<ModelReply> {
  const { signal } = new AbortController();
  for await (const part of model.stream({ system: "", messages, tools: [BASH], signal, blob })) {
    if (part.type === "reply") return part.reply;
  }
  throw new Error("no reply");
}

describe.each(CLIENT_NAMES)("over %s", (client) => {
  it.each<[string, Reply]>([
    ["a text", say(["a", "b", "c"])],
    ["a call", call("bash", { command: "ls -l" }, { text: "So" })],
    [
      "two calls",
      calls([
        { name: "bash", input: { command: "ls" } },
        { name: "bash", input: { command: "pwd" } },
      ]),
    ],
  ])("%s whose stream ends after any event is whole or a failure", async (_, reply) => {
    const said = ({ text, calls: made, stopReason }: ModelReply) => ({
      text,
      stopReason,
      inputs: made.map((c) => c.input),
    });
    await using server = await startModelServer([reply]);
    const whole = said(await replyTo(modelOver(client, server.url)));
    let failures = 0;
    for (let afterEvents = 0; ; afterEvents += 1) {
      await using early = await startModelServer([fault("eof", { ...reply, afterEvents })]);
      const heard = await replyTo(modelOver(client, early.url)).then(said, (error: unknown) => error);
      if (!(heard instanceof Error)) {
        expect(heard).toEqual(whole);
        break;
      }
      expect(heard).toMatchObject({ code: "provider_failed" });
      failures += 1;
    }
    expect(failures).toBeGreaterThan(client === "gemini" ? 0 : 3); // gemini gives its calls with its end
  });

  it("two calls with one id are told apart, also in what is given back", async () => {
    const command = (text: string) => ({ id: "same", name: "bash", input: { command: text } });
    await using server = await startModelServer([calls([command("A"), command("B")]), say("Ok.")]);
    const model = modelOver(client, server.url);
    const { text, calls: made, native } = await replyTo(model);
    expect(new Set(made.map(({ toolId }) => toolId)).size).toBe(2);
    const results = made.map(({ toolId, name, input }) => ({
      toolId,
      name,
      text: JSON.stringify(input),
      failed: false,
    }));
    await replyTo(model, [user("Go"), { role: "assistant", text, calls: made, native }, { role: "tool", results }]);
    expect(server.problems).toEqual([]);
    const asked = server.requests.at(-1)!.messages.flatMap(({ toolCalls }) => toolCalls);
    const inputs = new Map(asked.map(({ id, input }) => [id, JSON.stringify(input)]));
    const answered = server.requests.at(-1)!.messages.flatMap(({ toolResults }) => toolResults);
    expect(answered.map(({ id }) => inputs.get(id))).toEqual(['{"command":"A"}', '{"command":"B"}']);
    expect(answered.map(({ content }) => content)).toEqual(['{"command":"A"}', '{"command":"B"}']);
  });

  it("half a character is never sent, wherever it stands", async () => {
    const half = "a\ud83d";
    await using server = await startModelServer([say("Ok."), say("Ok.")]);
    const made = [{ toolId: "t", name: "bash", input: { command: half } }];
    const native = {
      provider: client,
      model: "m",
      content: [
        { type: "text", text: half },
        { type: "tool-call", toolCallId: "t", toolName: "bash", input: { deep: [half] } },
      ],
    };
    for (const given of [undefined, native]) {
      await replyTo(modelOver(client, server.url), [
        user(half),
        { role: "assistant", text: half, calls: made, native: given },
        { role: "tool", results: [{ toolId: "t", name: "bash", text: half, failed: false }] },
      ]);
    }
    const sent = server.requests.map(({ body }) => JSON.stringify(body));
    expect(sent.filter((body) => /\\ud83d/i.test(body))).toEqual([]);
    expect(sent.every((body) => body.includes("a\ufffd"))).toBe(true);
  });
});

describe.each(CLIENT_NAMES)("an image over %s", (client) => {
  it("is given between the texts that it stood between, in its turn and later", async () => {
    await using server = await startModelServer([say("Ok."), say("Ok.")]);
    const model = modelOver(client, server.url);
    const message: Message = { role: "user", parts: [text("Before"), image("the bytes"), text("after"), text("more")] };
    await replyTo(model, [message]);
    await replyTo(model, [message, { role: "assistant", text: "Ok.", calls: [] }, user("And?")]);
    for (const { body } of server.requests) {
      const sent = JSON.stringify(body);
      const places = ["Before", base64("the bytes"), "after\\nmore"].map((piece) => sent.indexOf(piece));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    }
  });
});

describe("an attachment", () => {
  const sentBy = async (messages: readonly Message[], limits: { images?: ImageLimits } = { images: IMAGES }) => {
    await using server = await startModelServer([say("Ok.")]);
    await replyTo(modelOver("anthropic", server.url, limits), messages);
    return JSON.stringify(server.requests[0]?.body);
  };

  it.each<[string, BlobPart, { images?: ImageLimits }]>([
    ["of another kind", { ...image("h"), mediaType: "image/tiff" }, { images: IMAGES }],
    ["whose bytes are gone", image("gone"), { images: IMAGES }],
    ["that a provider takes none of", image("h"), {}],
  ])("%s is named in its place", async (_, part, limits) => {
    const sent = await sentBy([{ role: "user", parts: [text("See"), { ...part, name: "cat" }] }], limits);
    expect(sent).toContain("See\\n[not given to you: cat]");
    expect(sent).not.toContain('"type":"image"');
  });

  it("that is too large is refused in words before anything is sent, and is named in later turns", async () => {
    const large = { ...image("x".repeat(1_000_001)), name: "cat.png" };
    const message: Message = { role: "user", parts: [large] };
    await using server = await startModelServer([]);
    await expect(replyTo(modelOver("anthropic", server.url), [message])).rejects.toMatchObject({
      code: "input_too_large",
      message: expect.stringContaining("cat.png") as string,
    });
    expect(server.requests).toEqual([]);
    expect(await sentBy([message, user("Never mind")])).toContain("not given to you: cat.png");
  });

  it.each([
    ["many", 25, "", 20],
    ["large", 25, "x".repeat(950_000), 17],
  ])("is left out, the oldest first, where there are too %s", async (_, count, filling, kept) => {
    const names = Array.from({ length: count }, (_, index) => `image ${index}${filling}`);
    const sent = await sentBy(names.map((name): Message => ({ role: "user", parts: [image(name)] })));
    expect(names.map((name) => sent.includes(base64(name)))).toEqual(names.map((_, index) => index >= count - kept));
    await using server = await startModelServer([]);
    const atOnce: Message = { role: "user", parts: names.map((name) => image(name)) };
    await expect(replyTo(modelOver("anthropic", server.url), [atOnce])).rejects.toMatchObject({
      code: "input_too_large",
    });
  });

  it("that stands there twice counts once", async () => {
    const parts = Array.from({ length: 30 }, () => image("same"));
    expect((await sentBy([{ role: "user", parts }])).split(base64("same"))).toHaveLength(31);
  });
});

function text(value: string): InputPart {
  return { type: "text", text: value };
}

function image(hash: string): BlobPart {
  return { type: "blob", hash, mediaType: "image/png" };
}

function base64(value: string): string {
  return Buffer.from(value).toString("base64");
}
