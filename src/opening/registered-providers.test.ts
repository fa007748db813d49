import { describe, expect, it } from "vitest";
import { ProviderError, type CompletionRequest, type Model, type ModelPart, type Provider } from "../domain/index.ts";
import { Rookery, type RookeryOptions } from "../rookery.ts";
import { openWorld } from "../session/test-scene.ts";
import { say } from "../testing/index.ts";

type World = Awaited<ReturnType<typeof openWorld>>;
type Stream = (request: CompletionRequest, attempt: number) => AsyncIterable<unknown>;

const AGENT = { name: "robin", model: "nest/small", retries: 1 };
const usage = { inputTokens: 10, outputTokens: 2 };

async function openWith(world: World, options: Omit<RookeryOptions, "store"> = {}) {
  return world.owned.use(await Rookery.open({ ...world.options, ...options }));
}

/** A provider that streams what the function yields, and records its requests. */
function createProvider(stream: Stream, model: Partial<Model> = {}) {
  const requests: CompletionRequest[] = [];
  const provider: Provider = {
    name: "nest",
    open: () => ({
      name: "ignored",
      ...model,
      stream: (request) => stream(request, requests.push(request)) as AsyncIterable<ModelPart>,
    }),
  };
  return { provider, requests };
}

async function* reply(text: string, more: object = {}): AsyncIterable<unknown> {
  await Promise.resolve();
  yield { type: "text", text };
  yield { type: "reply", reply: { text, usage, ...more } };
}

async function promptOnce(world: World, stream: Stream) {
  const { provider, requests } = createProvider(stream);
  const rookery = await openWith(world, { providers: [provider] });
  const session = await rookery.openSession({ agent: AGENT });
  const outcome = await session.prompt("hello").outcome;
  return { outcome, requests, events: await world.events(session.id), session };
}

describe("a registered provider", () => {
  it("answers with text and tool calls, and its price and context size count", async () => {
    await using world = await openWorld([]);
    const { provider, requests } = createProvider(
      ({ messages }) =>
        messages.length === 1
          ? reply("", { calls: [{ toolId: "c1", name: "list", input: { path: "." } }], native: { id: 7 } })
          : reply("done"),
      { price: { input: 1, output: 1 }, contextSize: 200_000 },
    );
    const rookery = await openWith(world, { providers: [provider] });
    const session = await rookery.openSession({ agent: AGENT });
    expect(await session.prompt("hello").outcome).toMatchObject({ status: "done" });
    const [assistant, tool] = requests[1]?.messages.slice(1) ?? [];
    expect(assistant).toMatchObject({ role: "assistant", calls: [{ toolId: "c1", name: "list" }], native: { id: 7 } });
    expect(tool).toMatchObject({ role: "tool", results: [{ toolId: "c1", failed: false }] });
    const reported = (await world.events(session.id)).filter(({ type }) => type === "usage.reported");
    expect(reported).toMatchObject([
      { model: "nest/small", inputTokens: 10, costUsd: 12e-6, contextSize: 200_000 },
      { costUsd: 12e-6 },
    ]);
  });

  it("does not get another model's form of a message, and another model does not get its form", async () => {
    await using world = await openWorld([say("from anthropic"), say("again")]);
    const { provider, requests } = createProvider(() => reply("from the nest", { native: "mine" }));
    const rookery = await openWith(world, { providers: [provider] });
    const session = await rookery.openSession({ agent: "anthropic" });
    await session.prompt("one").outcome;
    await session.change({ model: "nest/small" });
    await session.prompt("two").outcome;
    expect(requests[0]?.messages[1]).toEqual({ role: "assistant", text: "from anthropic", calls: [] });
    await session.change({ model: "anthropic/claude-sonnet-5" });
    expect((await session.prompt("three").outcome).status).toBe("done");
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain("from the nest");
  });

  it("is missed by a process that does not register it", async () => {
    await using world = await openWorld([]);
    const first = await openWith(world, { providers: [createProvider(() => reply("hi")).provider] });
    const session = await first.openSession({ agent: AGENT });
    await first.close();
    const second = await openWith(world);
    await expect(second.openSession({ id: session.id })).rejects.toMatchObject({
      code: "provider_unknown",
      message: expect.stringContaining("Rookery.open({ providers") as string,
    });
  });

  it("is retried if its error says so", async () => {
    await using world = await openWorld([]);
    const { outcome, requests } = await promptOnce(world, (_, attempt) => {
      if (attempt === 1) throw new ProviderError("provider_overloaded", "busy", { retry: { afterMs: 1 } });
      return reply("better");
    });
    expect(outcome).toEqual({ status: "done", stopReason: "stop" });
    expect(requests).toHaveLength(2);
  });

  it.each<[string, Stream, string]>([
    [
      "throws",
      () => {
        throw new TypeError("a bug");
      },
      "a bug",
    ],
    ["returns no stream", () => 3 as never, "async iterable"],
    [
      "streams a part of the wrong shape",
      async function* () {
        yield { type: "text", text: 7 };
      },
      "text",
    ],
    ["reports negative usage", () => reply("x", { usage: { inputTokens: -1 } }), "inputTokens"],
    ["replies with a value that is not JSON", () => reply("x", { native: 1n }), "BigInt"],
  ])("fails the turn, and no more, if it %s", async (_, stream, message) => {
    await using world = await openWorld([say("fine")]);
    const { outcome, requests, session } = await promptOnce(world, stream);
    expect(outcome).toMatchObject({
      status: "failed",
      code: "provider_failed",
      message: expect.stringContaining(message) as string,
    });
    expect(requests).toHaveLength(1);
    await session.change({ model: "anthropic/claude-sonnet-5" });
    expect((await session.prompt("still there?").outcome).status).toBe("done");
  });

  it("is left alone when a turn is cancelled, even if its stream ignores the signal", async () => {
    await using world = await openWorld([]);
    const { provider } = createProvider(async function* () {
      yield { type: "text", text: "so far" };
      await new Promise(() => undefined);
    });
    const rookery = await openWith(world, { providers: [provider] });
    const session = await rookery.openSession({ agent: AGENT });
    const turn = session.prompt("hello");
    for await (const event of turn) if (event.type === "message.delta") void session.cancel();
    expect(await turn.outcome).toEqual({ status: "cancelled" });
  });
});

it.each([
  ["a built-in name", { name: "anthropic", open: () => undefined }, "built-in"],
  ["a slash in its name", { name: "a/b", open: () => undefined }, "another name"],
  ["no method", { name: "nest" }, "open"],
])("refuses a provider with %s", async (_, provider, message) => {
  await using world = await openWorld([]);
  const opening = Rookery.open({ ...world.options, providers: [provider as never] });
  await expect(opening).rejects.toMatchObject({
    code: "input_invalid",
    message: expect.stringContaining(message) as string,
  });
});
