/** A model whose reply never ends: its turn can be cancelled, and other sessions of the process go on. */
import { describe, expect, it } from "vitest";
import { X, endlessReply, startEndlessServer } from "../providers/test-endless-server.ts";
import { WIRE_MODELS, WIRES } from "../providers/test-models.ts";
import { say } from "../testing/index.ts";
import { openWorld } from "./test-scene.ts";

const MB = 1024 * 1024;

describe.each(WIRES)("over %s", (wire) => {
  const { head, delta } = endlessReply(wire, "word ");

  it.each([
    ["a reply", head, delta],
    ["a line", 'data: {"text":"', "x".repeat(1_000)],
    ["a line of nothing", "", " "],
    ["a stream of comments", "", ": ping\n\n"],
  ])(
    "%s without end is cancelled twice, while another session is prompted",
    { timeout: 30_000 },
    async (_, ...sent) => {
      await using endless = await startEndlessServer(200, ...sent, { pauseMs: 1 });
      await using w = await openWorld(() => say("Hello."));
      await w.configure(`[agents.endless]\nbackend = "api"\nmodel = "${WIRE_MODELS[wire]}"\n`);
      await using rookery = await w.open();
      const session = await rookery.openSession({ agent: "endless", baseUrl: endless.url, apiKey: "fake" });
      const other = await rookery.openSession({ agent: "anthropic" });
      for (const prompt of ["go", "go again"]) {
        const turn = session.prompt(prompt);
        await endless.asked;
        expect(await other.prompt("hi").outcome).toMatchObject({ status: "done" });
        await session.cancel();
        expect(await turn.outcome).toEqual({ status: "cancelled" });
      }
      expect(await endless.taken).toBeLessThan(MB);
      const ended = (await w.events(session.id)).filter(({ type }) => type === "turn.ended");
      expect(ended).toHaveLength(2);
    },
  );

  it("a line that comes at full speed fails the turn at the limit, while another session is prompted", async () => {
    await using endless = await startEndlessServer(200, 'data: {"text":"', X);
    await using w = await openWorld(() => say("Hello."));
    await w.configure(`[agents.endless]\nbackend = "api"\nmodel = "${WIRE_MODELS[wire]}"\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "endless", baseUrl: endless.url, apiKey: "fake" });
    const other = await rookery.openSession({ agent: "anthropic" });
    const turn = session.prompt("go");
    await endless.asked;
    expect(await other.prompt("hi").outcome).toMatchObject({ status: "done" });
    expect(await turn.outcome).toMatchObject({ status: "failed", code: "provider_failed" });
    expect(await endless.taken).toBeLessThan(32 * MB);
  });
});
