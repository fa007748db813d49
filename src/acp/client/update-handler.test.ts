import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { Random } from "../../programs/test-fuzz.ts";
import type { UpdateItem } from "../index.ts";
import { getRejection, openScene, readAll, stalled, updateLine, describeItems } from "./test-scene.ts";

const COUNT = 300;
const expected = Array.from({ length: COUNT }, (_, index) => `turn ${index}`);
const flood = { flood: { count: COUNT } };

/** Waits a pseudo-random number of event loop turns, the same in every run. */
function randomWaits(): () => Promise<void> {
  const random = new Random(7);
  return async () => {
    for (let turns = random.below(4); turns > 0; turns -= 1) await tick();
  };
}

describe("an `update` handler", () => {
  it("gets every update in order, and the turn yields none", async () => {
    const seen: string[] = [];
    await using scene = await openScene({ prompts: [[flood]] });
    const session = await scene.client
      .session("/project")
      .serve({ update: (item) => void seen.push(...describeItems([item])) })
      .create();
    expect(await readAll(session.prompt("go"))).toEqual([]);
    expect(seen).toEqual(expected);
  });

  it("finishes each update before it gets the next, and all before the turn ends", async () => {
    const seen: string[] = [];
    const wait = randomWaits();
    let running = 0;
    const update = async (item: UpdateItem): Promise<void> => {
      expect((running += 1)).toBe(1);
      await wait();
      seen.push(...describeItems([item]));
      running -= 1;
    };
    await using scene = await openScene({ prompts: [[flood]] }, { serve: { update } });
    const session = await scene.client.session("/project").create();
    await session.prompt("go").response;
    expect(seen).toEqual(expected);
  });

  it("keeps the order while others wait for the agent", async () => {
    const seen: string[] = [];
    const wait = randomWaits();
    const update = async (item: UpdateItem): Promise<void> => {
      await wait();
      seen.push(...describeItems([item]));
    };
    await using scene = await openScene({ prompts: [[{ waitForMessage: "_go" }], [flood]] });
    const other = await scene.client.session("/other").create();
    const session = await scene.client.session("/project").serve({ update }).create();
    const waiting = other.prompt("go");
    const asked = scene.client.request("_anything").catch(() => undefined);
    await session.prompt("go").response;
    expect(seen).toEqual(expected);
    await scene.client.notify("_go");
    await waiting.finish();
    await asked;
  });

  it("finishes before a later request is served", async () => {
    const seen: string[] = [];
    const wait = randomWaits();
    const ask = JSON.stringify({
      jsonrpc: "2.0",
      id: "q",
      method: "fs/read_text_file",
      params: { sessionId: "session-1", path: "/a" },
    });
    const written = `${updateLine("one")}${updateLine("two")}${ask}\n${updateLine("three")}`;
    await using scene = await openScene({ prompts: [[{ write: written }, { waitForMessage: "_go" }]] });
    const session = await scene.client
      .session("/project")
      .serve({
        update: async (item) => {
          await wait();
          seen.push(...describeItems([item]));
        },
        readTextFile: () => {
          seen.push("reads");
          return { content: "" };
        },
      })
      .create();
    const turn = session.prompt("go");
    await scene.client.notify("_go");
    await turn.response;
    expect(seen).toEqual(["turn one", "turn two", "reads", "turn three"]);
  });

  it("may wait for a request to the agent, even if the agent asks something first", async () => {
    const seen: string[] = [];
    await using scene = await openScene(
      {
        prompts: [[{ say: "one" }, { say: "two" }]],
        on: {
          "_own/thing": {
            steps: [{ in: { session: "session-1", steps: [{ readFile: { path: "/a", echo: false } }] } }],
            answer: { result: { is: "thing" } },
          },
        },
      },
      { capabilities: { fs: { readTextFile: true } } },
    );
    const session = await scene.client
      .session("/project")
      .serve({
        update: async (item) => {
          seen.push(...describeItems([item]));
          if (seen.length === 1) seen.push(JSON.stringify(await session.request("_own/thing")));
        },
        readTextFile: () => ({ content: "" }),
      })
      .create();
    await session.prompt("go").response;
    expect(seen).toEqual(["turn one", '{"is":"thing"}', "turn two"]);
  });

  it("may wait for a prompt in another session", async () => {
    const seen: string[] = [];
    await using scene = await openScene({ prompts: [[{ say: "ask" }, flood], [{ say: "answer" }]] });
    const helper = await scene.client.session("/helper").create();
    const update = async (item: UpdateItem): Promise<void> => {
      seen.push(...describeItems([item]));
      if (seen.length === 1) seen.push(await helper.prompt("go").readText());
    };
    const session = await scene.client.session("/project").serve({ update }).create();
    await session.prompt("go").response;
    expect(seen).toEqual(["turn ask", "answer", ...expected]);
  });

  it.each([
    [
      "throws",
      (error: Error) => {
        throw error;
      },
    ],
    ["rejects", (error: Error) => Promise.reject(error)],
    [
      "rejects late",
      async (error: Error) => {
        await tick();
        throw error;
      },
    ],
  ])("that %s fails its turn and its session, and no other", async (_how, fail) => {
    const bad = new Error("bad handler");
    const seen: string[] = [];
    await using scene = await openScene({
      prompts: [[{ say: "one" }, { say: "two" }, { waitForCancel: true }], [{ say: "fine" }]],
    });
    const update = (item: UpdateItem): void | Promise<void> => {
      seen.push(...describeItems([item]));
      return fail(bad);
    };
    const broken = await scene.client.session("/project").serve({ update }).create();
    const other = await scene.client.session("/other").create();
    const turn = broken.prompt("go");
    expect(await getRejection(turn.response)).toBe(bad);
    expect(await getRejection(readAll(turn))).toBe(bad);
    expect(seen).toEqual(["turn one"]);
    expect(() => broken.prompt("again")).toThrow(bad);
    expect(await other.prompt("go").readText()).toBe("fine");
    expect(await scene.agent.receivedMethod("session/cancel")).toEqual({ sessionId: "session-1" });
  });

  it("that throws fails its turn immediately, although the agent does not stop", async () => {
    const bad = new Error("bad handler");
    await using scene = await openScene({ prompts: [[{ say: "one" }, { hang: true }]] });
    const session = await scene.client
      .session("/project")
      .serve({ update: () => Promise.reject(bad) })
      .create();
    expect(await getRejection(session.prompt("go").response)).toBe(bad);
  });

  it("that throws for the last update fails the turn although the agent has already stopped", async () => {
    const bad = new Error("bad handler");
    const gate = deferred();
    const stop = JSON.stringify({ jsonrpc: "2.0", id: 3, result: { stopReason: "end_turn" } });
    const prompts = [{ steps: [{ write: `${updateLine("one")}${updateLine("two")}${stop}\n` }], answer: { times: 0 } }];
    await using scene = await openScene({ prompts });
    const update = async (item: UpdateItem): Promise<void> => {
      await gate.promise;
      if (describeItems([item])[0] === "turn two") throw bad;
    };
    const session = await scene.client.session("/project").serve({ update }).create();
    const turn = session.prompt("go");
    await session.idle();
    gate.resolve();
    expect(await getRejection(turn.response)).toBe(bad);
  });

  it("that never finishes fails its session if the agent cannot be made to wait", async () => {
    const prompts = [[{ waitForMessage: "_go" }], [{ flood: { count: 70, padding: "x".repeat(1024 * 1024) } }]];
    await using scene = await openScene({ prompts });
    const other = await scene.client.session("/other").create();
    const session = await scene.client
      .session("/project")
      .serve({ update: () => new Promise(() => undefined) })
      .create();
    const waiting = other.prompt("go");
    await scene.agent.receivedMethod("session/prompt");
    expect(await getRejection(session.prompt("go").finish())).toMatchObject({ code: "input_too_large" });
    await scene.client.notify("_go");
    expect(await waiting.stopReason).toBe("end_turn");
  });

  it("that throws outside of a turn fails the next prompt", async () => {
    const bad = new Error("bad handler");
    const threw = deferred();
    await using scene = await openScene({ on: { "session/new": { after: [{ say: "commands" }] } } });
    const update = (): never => {
      threw.resolve();
      throw bad;
    };
    const session = await scene.client.session("/project").serve({ update }).create();
    await threw.promise;
    expect(() => session.prompt("go")).toThrow(bad);
  });

  it("that is slow makes the agent wait and gets everything", async () => {
    const gate = deferred();
    const seen: number[] = [];
    const count = 400;
    await using scene = await openScene({ prompts: [[{ flood: { count, padding: "x".repeat(16 * 1024) } }]] });
    const update = async (item: UpdateItem): Promise<void> => {
      await gate.promise;
      seen.push(parseInt(describeItems([item])[0]!.slice("turn ".length), 10));
    };
    const session = await scene.client.session("/project").serve({ update }).create();
    const turn = session.prompt("go");
    await stalled(scene);
    expect(scene.taken()).toBeLessThan(4 * 1024 * 1024);
    gate.resolve();
    await turn.response;
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => index));
  });
});
