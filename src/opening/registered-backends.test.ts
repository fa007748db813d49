import { describe, expect, it } from "vitest";
import { createTestBackend } from "../backends/registered/test-backend.ts";
import type { Backend } from "../domain/index.ts";
import { Rookery, type RookeryOptions } from "../rookery.ts";
import { openWorld } from "../session/test-scene.ts";
import { say, transcript } from "../testing/index.ts";

type World = Awaited<ReturnType<typeof openWorld>>;

const AGENT = { name: "robin", backend: "mine" };

async function openWith(world: World, options: Omit<RookeryOptions, "store"> = {}) {
  const rookery = await Rookery.open({ ...world.options, ...options });
  return world.owned.use(rookery);
}

describe("a registered backend", () => {
  it("runs a session of an agent that the configuration or a definition names", async () => {
    await using world = await openWorld([]);
    await world.configure('[agents.wren]\nbackend = "mine"\nmodel = "m1"\nenv = { LEVEL = "3" }\n');
    const backend = createTestBackend();
    const rookery = await openWith(world, { backends: [backend] });
    for (const agent of ["wren", AGENT]) {
      const session = await rookery.openSession({ agent });
      expect((await session.prompt("hello").outcome).status).toBe("done");
      expect(transcript(await world.events(session.id)).join("\n")).toContain("re: hello");
      expect(session.state.backend).toBe("mine");
      await session.close();
    }
    expect(backend.closed).toBe(2);
    const [configured] = backend.opened;
    expect(configured?.agent).toMatchObject({ name: "wren", backend: "mine", model: "m1", prompts: [] });
    expect(Object.keys(configured?.agent ?? {})).not.toContain("baseUrl");
    expect(configured?.env).toMatchObject({ LEVEL: "3", ROOKERY_OWNER: configured?.marker });
    expect(configured?.env).not.toHaveProperty("ANTHROPIC_API_KEY");
  });

  it("is missed by a process that does not register it, which says so and writes nothing", async () => {
    await using world = await openWorld([]);
    const first = await openWith(world, { backends: [createTestBackend()] });
    const session = await first.openSession({ agent: AGENT });
    await session.prompt("hello").outcome;
    await first.close();
    const second = await openWith(world);
    expect(await second.sessions()).toMatchObject([{ id: session.id, backend: "mine" }]);
    const { head } = (await world.store.summary(session.id))!;
    await expect(second.openSession({ id: session.id })).rejects.toMatchObject({
      code: "backend_unknown",
      message: expect.stringMatching(/robin.*"mine".*Rookery\.open\(\{ backends/) as string,
    });
    expect((await world.store.summary(session.id))?.head).toBe(head);
    const tools = await second.openSession({ id: session.id, toolsOnly: true });
    expect(tools.tools.list().map(({ name }) => name)).toContain("read");
  });

  it("gets the conversation that its agent missed, also in a fork and in another process", async () => {
    await using world = await openWorld([say("from the model")]);
    const backend = createTestBackend();
    const rookery = await openWith(world, { backends: [backend] });
    const session = await rookery.openSession({ agent: "anthropic" });
    await session.prompt("first").outcome;
    await session.change({ agent: AGENT });
    await session.prompt("second").outcome;
    await session.prompt("third").outcome;
    expect(backend.received[0]).toMatch(/first[^]*from the model[^]*second/);
    expect(backend.received[1]).toBe("third");
    const fork = await rookery.openSession({ id: await rookery.forkSession(session.id) });
    await fork.prompt("fourth").outcome;
    expect(backend.received[2]).toMatch(/from the model[^]*re: third[^]*fourth/);
    await session.replaceConversation([{ role: "user", text: "another past" }]);
    await session.prompt("fifth").outcome;
    expect(backend.received[3]).toMatch(/another past[^]*fifth/);
    expect(backend.received[3]).not.toContain("third");
  });
});

describe("registering backends", () => {
  it.each([
    ["a built-in name", [createTestBackend({ kind: "codex" })], "built-in"],
    ["a name that looks like a misspelled one", [createTestBackend({ kind: "codecs" })], "codex"],
    ["an invalid name", [createTestBackend({ kind: "../mine" })], "another name"],
    ["the same name twice", [createTestBackend(), createTestBackend()], "twice"],
    ["a value that is no backend", [{ kind: "mine" }], "open"],
    [
      "a value that cannot be read",
      [
        {
          get kind(): string {
            throw new Error("no kind");
          },
        },
      ],
      "no kind",
    ],
  ])("rejects %s with input_invalid", async (_, backends, message) => {
    await using world = await openWorld([]);
    const opening = Rookery.open({ ...world.options, backends: backends as Backend[] });
    await expect(opening).rejects.toMatchObject({
      code: "input_invalid",
      message: expect.stringContaining(message) as string,
    });
  });
});
