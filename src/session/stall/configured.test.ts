import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { SessionEvent } from "../../domain/index.ts";
import { call, fault, say, type Script } from "../../testing/index.ts";
import { turnedClock } from "../test-played.ts";
import { openWorld } from "../test-scene.ts";

/** The built-in agent with a model that does as told, and a clock that is turned. */
async function prompted(script: Script, toml: string) {
  const w = await openWorld(script);
  await w.configure(toml);
  const clock = turnedClock();
  const rookery = w.owned.use(await w.open(clock));
  const session = await rookery.openSession({ permissions: "all" });
  const turn = session.prompt("go");
  return {
    clock,
    cwd: w.options.cwd,
    session,
    turn,
    has: async (wanted: (event: SessionEvent) => boolean) => {
      for await (const event of rookery.follow({ session: session.id })) if (wanted(event)) return;
    },
    [Symbol.asyncDispose]: () => w.owned[Symbol.asyncDispose](),
  };
}

it("a model that hangs in the middle of its words is a stall by the clock that is configured for it", async () => {
  await using s = await prompted(
    [fault("stall", { text: ["I am about to", " do it"], afterEvents: 4 })],
    "[agents.anthropic]\nstall = { model = 60 }",
  );
  await s.has(({ type }) => type === "message.delta");
  s.clock.turn(60);
  const outcome = await s.turn.outcome;
  expect(outcome).toMatchObject({ status: "stalled", clock: "model" });
  expect(outcome).toMatchObject({ message: expect.stringContaining('it said "I am about to"') as unknown });
});

it("a build that says nothing for five minutes is none, and the turn goes on when it ends", async () => {
  const building = call("bash", { command: "echo up; until [ -e go ]; do sleep 0.05; done" });
  await using s = await prompted([building, say("ok")], "");
  await s.has(({ type }) => type === "tool.updated");
  s.clock.turn(300);
  const looks = performance.now() + 2_000; // many looks later
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(looks), { timeout: 5_000 });
  expect(s.session.state.turn).toBeDefined();
  await writeFile(join(s.cwd, "go"), "");
  expect(await s.turn.outcome).toMatchObject({ status: "done" });
});
