import { expect, it } from "vitest";
import { RookeryError, type Store } from "../domain/index.ts";
import { LATER, openScene, openWorld } from "../session/test-scene.ts";
import { call, fault, say, transcript, type ModelRequest, type Script } from "../testing/index.ts";

const MODEL = "anthropic/claude-haiku-4-5";
const FULL = { usage: { input: 180_000, output: 100 } };
const isSummary = ({ system }: ModelRequest): boolean => system.includes("too long to continue");
const getMessagesText = ({ messages }: ModelRequest): string => JSON.stringify(messages);

/** Fills the context with tool results, and then answers requests for a summary. */
function fullWith(...summaries: readonly ReturnType<typeof say>[]): Script {
  const left = [...summaries];
  return (request) => {
    if (isSummary(request)) return left.shift() ?? say("In short.");
    return request.toolResults.length === 0 && !getMessagesText(request).includes("In short.")
      ? call("list", { path: "." }, FULL)
      : say("Done.");
  };
}

it("rejects an empty summary but counts its usage", async () => {
  await using s = await openScene(fullWith(say(" ")), { model: MODEL });
  expect(await s.session.prompt("go").outcome).toMatchObject({ status: "done" });
  const events = await s.events(s.session.id);
  expect(events.flatMap((event) => (event.type === "context.compacted" ? event.summary : []))).toEqual(["In short."]);
  expect(events.filter(({ type }) => type === "usage.reported")).toHaveLength(4);
});

it("halves the text to summarize if it is rejected as too long", async () => {
  const tooLong = fault(400, { message: "prompt is too long: 250000 tokens > 200000 maximum" });
  await using s = await openScene(fullWith(tooLong, tooLong), { model: MODEL });
  expect(await s.session.prompt(`go ${"x".repeat(40_000)}`).outcome).toMatchObject({ status: "done" });
  const lengths = s.model.requests.filter(isSummary).map((request) => getMessagesText(request).length);
  expect(lengths).toHaveLength(3);
  expect(lengths[1]).toBeLessThan(lengths[0]! * 0.6);
  expect(lengths[2]).toBeLessThan(lengths[1]! * 0.6);
});

it("does not summarize a step that was answered before a crash, even if the context is smaller now", async () => {
  let turns = 0;
  await using world = await openWorld((request) => {
    if (isSummary(request)) return say("In short.");
    if (request.toolResults.length > 0) return say("Done.");
    return (turns += 1) === 1 ? say("First.", FULL) : call("bash", { command: "echo ran >> count" });
  });
  await world.configure(`[agents.it]\nbackend = "api"\nmodel = "${MODEL}"\ncontext = 1000000\n`);
  const first = await world.open(undefined, dyingAtToolEnd(world.store));
  const session = await first.openSession({ agent: "it", permissions: "all" });
  await session.prompt("one").outcome;
  await session.prompt("two").outcome.catch(() => undefined);
  await first.close().catch(() => undefined);
  const before = transcript(await world.events(session.id));
  expect(before).toContain("tool bash: echo ran >> count");
  expect(before).not.toContain("says Done.");

  await world.configure(`[agents.it]\nbackend = "api"\nmodel = "${MODEL}"\ncontext = 200000\n`);
  await using second = await world.open(LATER);
  await using again = await second.openSession({ id: session.id });
  expect(await again.resumed?.outcome).toMatchObject({ status: "done" });
  expect((await world.events(session.id)).filter(({ type }) => type === "context.compacted")).toEqual([]);
});

/** Behaves like a process that is killed as soon as the end of a tool is in the log. */
function dyingAtToolEnd(store: Store): Store {
  let isDead = false;
  return new Proxy(store, {
    get(target, name) {
      if (name === "append") {
        return (append: Parameters<Store["append"]>[0]) => {
          if (isDead) return Promise.reject(new RookeryError("store_closed", "killed"));
          isDead = append.events.some(({ type }) => type === "tool.ended");
          return target.append(append);
        };
      }
      if (name === "releaseLease" || name === Symbol.asyncDispose) return () => Promise.resolve();
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
