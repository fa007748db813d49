/** Bad input from a model, a tool or a file: the turn ends once with a message, and no process keeps running. */
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../domain/index.ts";
import { openWorld } from "../session/test-scene.ts";
import { processesMarked } from "../stdx/index.ts";
import { call, calls, fault, say } from "../testing/index.ts";
import { FAST_RETRY, openScene, WIRES } from "./contract/test-scene.ts";
import { createCodingTools } from "./tools/index.ts";

const ended = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "turn.ended" ? [event] : []));

describe.each(WIRES)("over %s", (wire) => {
  it.each(["cut", "eof", "error", "reset", "garbage"] as const)(
    "fails the turn if every reply breaks off (%s)",
    async (kind) => {
      await using scene = await openScene({ wire, script: () => fault(kind, { text: ["a", "b", "c"] }) });
      const outcome = await scene.session.prompt("Go").outcome;
      expect(outcome).toMatchObject({ status: "failed", code: expect.stringMatching(/^provider_/) as string });
      expect("message" in outcome ? outcome.message : "").toMatch(/[:;] .*(try again|check)/);
      expect(ended(await scene.events())).toHaveLength(1);
      expect(scene.model.requests).toHaveLength(FAST_RETRY.retries + 1);
    },
  );

  it("stalls the turn if the model stops sending in the middle of a reply", async () => {
    await using scene = await openScene({
      wire,
      script: () => fault("stall", { text: ["a", "b", "c"] }),
      timeLimits: { model: 0.3 },
    });
    expect(await scene.session.prompt("Go").outcome).toMatchObject({ status: "stalled", clock: "model" });
    expect(ended(await scene.events())).toHaveLength(1);
    expect(await scene.model.ended(0)).toBe("aborted"); // the client disconnected
  });

  it.each([
    [400, "provider_refused", 1],
    [401, "provider_auth", 1],
    [403, "provider_", 1],
    [404, "model_not_found", 1],
    [422, "provider_refused", 1],
    [408, "provider_failed", FAST_RETRY.retries + 1],
    [500, "provider_failed", FAST_RETRY.retries + 1],
    [529, "provider_overloaded", FAST_RETRY.retries + 1],
  ])("fails the turn if the model responds with status %i", async (status, code, requests) => {
    await using scene = await openScene({ wire, script: () => fault(status) });
    const outcome = await scene.session.prompt("Go").outcome;
    expect(outcome).toMatchObject({ status: "failed", code: expect.stringContaining(code) as string });
    expect("message" in outcome ? outcome.message : "").toContain(String(status));
    expect(scene.model.requests).toHaveLength(requests);
    expect(ended(await scene.events())).toHaveLength(1);
  });

  it("answers 200 calls of one reply in order", async () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ name: "look", input: { of: `${index}` } }));
    await using scene = await openScene({ wire, script: [calls(many), say("Ok.")] });
    expect(await scene.session.prompt("Go").outcome).toMatchObject({ status: "done" });
    const results = scene.model.requests[1]?.toolResults.map(({ content }) => content);
    expect(results).toEqual(many.map(({ input }) => `saw ${input.of}`));
  });

  it("accepts a reply of 5 MB", async () => {
    const piece = "0123456789abcdef".repeat(1024);
    const text = Array.from({ length: 320 }, () => piece);
    await using scene = await openScene({ wire, script: [say(text), say("Ok.")] });
    expect(await scene.session.prompt("Go").outcome).toMatchObject({ status: "done" });
    const said = (await scene.events()).flatMap((event) => (event.type === "message.completed" ? [event.text] : []));
    expect(said.map((whole) => whole.length)).toEqual([5 * 1024 * 1024]);
    expect(await scene.session.prompt("And now?").outcome).toMatchObject({ status: "done" });
  });
});

describe("a command", () => {
  it.each([
    ["prints forever", "yes"],
    ["ignores SIGTERM", "trap '' TERM; while :; do sleep 1; done"],
    ["starts processes in other groups", "for i in 1 2 3 4 5; do (setsid sleep 1000 &) ; done; sleep 1000"],
  ])("that %s is killed when the turn is cancelled", async (_, command) => {
    const marker = `bad-input-${process.pid}-${Math.random().toString(36).slice(2)}`;
    await using tools = createCodingTools({ env: { PATH: process.env["PATH"] } });
    const scene = await openScene({
      wire: "anthropic",
      script: [call("bash", { command })],
      permissions: "all",
      marker,
      sources: [tools],
    });
    await using owned = scene;
    const turn = owned.session.prompt("Go");
    await scene.seen("process.started");
    await scene.session.cancel();
    expect(await turn.outcome).toEqual({ status: "cancelled" });
    expect(ended(await scene.events())).toHaveLength(1);
    expect((await scene.lines()).slice(-2)).toEqual(["tool cancelled", "ended cancelled"]);
    expect(processesMarked(marker)).toEqual([]);
  });
});

describe("a configuration", () => {
  it.each([
    ["a missing prompt file", '[agents.robin]\nprompts = ["gone.md"]\n', /gone\.md/],
    ["a price in the wrong unit", '[prices."anthropic/x"]\ninput = 0.000003\noutput = 1\n', /USD per million tokens/],
    ["a budget of zero", "[agents.robin.budget]\nusd = 0\n", /agents\.robin\.budget\.usd/],
    ["a budget in an unknown unit", "[agents.robin.budget]\neuros = 1\n", /euros/],
  ])("with %s is rejected with a message, and no session starts", async (_, toml, words) => {
    await using world = await openWorld([]);
    await world.configure(toml);
    await using rookery = await world.open();
    await expect(rookery.openSession({})).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(words) as string,
    });
    expect(await rookery.sessions()).toEqual([]);
  });
});
