import { expect, it } from "vitest";
import { emptyState } from "../domain/index.ts";
import { call, say, startModelServer, type Script } from "../testing/index.ts";
import { secondsLeft } from "./budget.ts";
import { openScene } from "./test-scene.ts";

const OWN = '[agents.own]\nbackend = "api"\nmodel = "anthropic/x"\n';

/** Calls one tool and then answers. Each request uses 100 tokens. */
const look: Script = ({ messages }) => {
  const usage = { input: 90, output: 10 };
  const looked = messages.some(({ toolResults }) => toolResults.length > 0);
  return looked ? say("Looked.", { usage }) : call("list", { path: "." }, { usage });
};

async function openOwn() {
  const model = await startModelServer(look);
  const scene = await openScene({ toml: OWN, env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" } });
  const waiting = async (): Promise<{ sessionId: string; requestId: string }> => {
    for (;;) {
      const [found] = await scene.rookery.sessions({ task: "t" });
      const requestId = found?.waitingFor[0];
      if (found !== undefined && requestId !== undefined) return { sessionId: found.id, requestId };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    ...scene,
    model,
    waiting,
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

it.each([
  ["tokens", { tokens: 100 }],
  ["steps", { steps: 1 }],
])("asks for more when the built-in agent has used up its %s, and continues", async (_, budget) => {
  await using s = await openOwn();
  s.run();
  await s.tasks.start({ id: "t", prompt: "look", agent: "own", budget });
  const { sessionId, requestId } = await s.waiting();
  expect((await s.tasks.show("t")).status).toBe("waiting");
  await s.rookery.answer(sessionId, requestId, {
    action: "accept",
    content: { how: "without limit for this turn" },
  });
  await s.until("t", "done");
  expect(s.model.requests).toHaveLength(2);
});

it("stops the task if the user declines, and continues it with a larger budget", async () => {
  await using s = await openOwn();
  s.run();
  await s.tasks.start({ id: "t", prompt: "look", agent: "own", budget: { tokens: 100 } });
  const { sessionId, requestId } = await s.waiting();
  await s.rookery.answer(sessionId, requestId, { action: "decline" });
  const view = await s.until("t", "stopped");
  expect(view).toMatchObject({
    code: "budget_reached",
    message: expect.stringContaining(
      "the task has used 100 of 100 tokens, and nobody allowed more: raise the budget and continue with: rookery task resume t --budget …",
    ) as string,
  });
  await s.tasks.resume("t", { budget: { tokens: 10_000 } });
  await s.until("t", "done");
});

it.each([
  ["was not raised", {}, 60],
  ["was raised", { "task.seconds": 150 }, 110],
  ["has no limit", { "task.seconds": null }, undefined],
])("computes the remaining seconds of a budget that %s", (_, raised, left) => {
  const elsewhere = { seconds: 30, tokens: 0, usd: 0, steps: 0 };
  const budgets = { session: undefined, task: { budget: { seconds: 100 }, elsewhere }, raised };
  const work = { byAgent: { own: { steps: 1, ranMs: 10_000 } }, since: undefined };
  expect(secondsLeft({ ...emptyState("s"), budgets, work })).toBe(left);
});
