/** Tests a model whose reply never ends: its turn can be cancelled, and other sessions keep working. */
import { describe, expect, it } from "vitest";
import { X, endlessReply, startEndlessServer } from "../providers/test-endless-server.ts";
import { WIRE_MODELS, WIRES } from "../providers/test-models.ts";
import { say } from "../testing/index.ts";
import { openWorld } from "./test-scene.ts";

const MB = 1024 * 1024;

describe.each(WIRES)("over %s", (wire) => {
  const { head, delta } = endlessReply(wire, "word ");

  it.each([
    ["an endless reply", head, delta],
    ["an endless line", 'data: {"text":"', "x".repeat(1_000)],
    ["an endless line of spaces", "", " "],
    ["endless comments", "", ": ping\n\n"],
  ])("cancels two turns with %s while another session runs", { timeout: 30_000 }, async (_, ...sent) => {
    await using endless = await startEndlessServer(200, ...sent, { pauseMs: 1 });
    await using w = await openWorld(() => say("Hello."));
    await w.configure(`[agents.endless]\nbackend = "api"\nmodel = "${WIRE_MODELS[wire]}"\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "endless", baseUrl: endless.url, apiKey: "fake" });
    const other = await rookery.openSession({ agent: "anthropic" });
    for (const prompt of ["go", "go again"]) {
      const turn = session.prompt(prompt);
      await endless.requested;
      expect(await other.prompt("hi").outcome).toMatchObject({ status: "done" });
      await session.cancel();
      expect(await turn.outcome).toEqual({ status: "cancelled" });
    }
    expect(await endless.bytesSent).toBeLessThan(MB);
    const ended = (await w.events(session.id)).filter(({ type }) => type === "turn.ended");
    expect(ended).toHaveLength(2);
  });

  it("fails a turn at the size limit of an endless line while another session runs", async () => {
    await using endless = await startEndlessServer(200, 'data: {"text":"', X);
    await using w = await openWorld(() => say("Hello."));
    await w.configure(`[agents.endless]\nbackend = "api"\nmodel = "${WIRE_MODELS[wire]}"\n`);
    await using rookery = await w.open();
    const session = await rookery.openSession({ agent: "endless", baseUrl: endless.url, apiKey: "fake" });
    const other = await rookery.openSession({ agent: "anthropic" });
    const turn = session.prompt("go");
    await endless.requested;
    expect(await other.prompt("hi").outcome).toMatchObject({ status: "done" });
    expect(await turn.outcome).toMatchObject({ status: "failed", code: "provider_failed" });
    expect(await endless.bytesSent).toBeLessThan(32 * MB);
  });
});
