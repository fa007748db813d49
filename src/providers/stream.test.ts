import { describe, expect, it } from "vitest";
import type { ToolSpec } from "../domain/index.ts";
import { call, calls, fault, say, startModelServer, type Reply } from "../testing/index.ts";
import { CLIENTS, CLIENT_NAMES, FAKE_KEY, type ClientName } from "../testing/model-server/test-clients.ts";
import type { Message, Model, ModelReply } from "./model.ts";
import { streamedModel } from "./stream.ts";

const BASH: ToolSpec = {
  name: "bash",
  description: "Runs a command",
  inputSchema: { type: "object", properties: { command: { type: "string" } } },
  kind: "execute",
  readOnly: false,
};

function modelOver(client: ClientName, baseUrl: string): Model {
  const endpoint = { provider: client, model: "m", baseUrl, keyVariable: "KEY", urlVariable: "URL" };
  return streamedModel(CLIENTS[client](baseUrl, FAKE_KEY), endpoint);
}

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });

async function replyTo(model: Model, messages: readonly Message[] = [user("Go")]): Promise<ModelReply> {
  const { signal } = new AbortController();
  for await (const part of model.stream({ system: "", messages, tools: [BASH], signal })) {
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

describe("an attachment", () => {
  const blob = { type: "blob", hash: "h", mediaType: "image/png", name: "cat.png" } as const;
  const image: Message = { role: "user", parts: [{ type: "text", text: "See" }, blob] };

  it("is refused in words, before anything is sent", async () => {
    await using server = await startModelServer([]);
    await expect(replyTo(modelOver("anthropic", server.url), [image])).rejects.toMatchObject({
      code: "input_invalid",
      message: expect.stringContaining("cat.png") as string,
    });
    expect(server.requests).toEqual([]);
  });

  it("of an earlier turn does not stand in the way, and is said to be missing", async () => {
    await using server = await startModelServer([say("Ok.")]);
    await replyTo(modelOver("anthropic", server.url), [image, user("Never mind")]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain("not given to you: cat.png");
  });
});
