import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { AcpScript, AcpStep } from "../../testing/acp-agent/index.ts";
import { PeerError, type RequestContext, type SessionOptions } from "../index.ts";
import { getRejection, openScene, readAll, stalled, describeItems } from "./test-scene.ts";

const CANCELLED_PERMISSION = { outcome: { outcome: "cancelled" } };
const CANCELLED_ELICITATION = { action: "cancel" };
const ask: AcpStep = { permission: { echo: false } };
const elicit: AcpStep = { elicit: { message: "?", echo: false } };

/** Handlers that report when they are called and never answer. */
function silent() {
  const asked = deferred<RequestContext>();
  const never = (_: object, context: RequestContext): Promise<never> => {
    asked.resolve(context);
    return new Promise(() => undefined);
  };
  const serve: SessionOptions = { permission: never, elicitation: never };
  return { serve, asked: asked.promise };
}

describe("a cancel", () => {
  it("stops the turn", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, { waitForCancel: true }], [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    for await (const _ of turn) await turn.cancel();
    expect(await turn.stopReason).toBe("cancelled");
    expect(scene.sent("session/cancel")).toEqual([{ sessionId: "session-1" }]);
    expect(await session.prompt("again").readText()).toBe("b");
  });

  it.each([
    ["a permission", ask, CANCELLED_PERMISSION],
    ["a question", elicit, CANCELLED_ELICITATION],
  ])("answers %s immediately, although its handler never does", async (_what, step, answer) => {
    const { serve, asked } = silent();
    await using scene = await openScene({ prompts: [{ steps: [step], onCancel: "ignore" }] }, { serve });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    const { signal } = await asked;
    await turn.cancel();
    expect(signal.aborted).toBe(true);
    await turn.finish();
    expect(scene.answers()).toEqual([answer]);
  });

  it("answers all open questions", async () => {
    const steps: AcpStep[] = [{ atOnce: [[ask], [ask], [elicit]] }];
    let asked = 0;
    const all = deferred();
    const never = (): Promise<never> => {
      if ((asked += 1) === 3) all.resolve();
      return new Promise(() => undefined);
    };
    await using scene = await openScene(
      { prompts: [{ steps, onCancel: "ignore" }] },
      { serve: { permission: never, elicitation: never } },
    );
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await all.promise;
    await turn.cancel();
    await turn.finish();
    expect(scene.answers()).toEqual([CANCELLED_PERMISSION, CANCELLED_PERMISSION, CANCELLED_ELICITATION]);
  });

  it("answers later questions without calling a handler", async () => {
    const { serve } = silent();
    const asked: string[] = [];
    const counting: SessionOptions = {
      permission: (...args) => (asked.push("permission"), serve.permission!(...args)),
      elicitation: (...args) => (asked.push("elicitation"), serve.elicitation!(...args)),
    };
    const prompts = [{ steps: [{ waitForMessage: "session/cancel" }, ask, elicit], onCancel: "ignore" as const }];
    await using scene = await openScene({ prompts }, { serve: counting });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await turn.cancel();
    await turn.finish();
    expect(scene.answers()).toEqual([CANCELLED_PERMISSION, CANCELLED_ELICITATION]);
    expect(asked).toEqual([]);
  });

  it("leaves a question of another session open", async () => {
    const mine = silent();
    const answer = deferred<{ outcome: { outcome: "selected"; optionId: string } }>();
    await using scene = await openScene({ prompts: [[ask], [ask]] });
    const one = await scene.client.session("/a").serve(mine.serve).create();
    const other = await scene.client
      .session("/b")
      .serve({ permission: () => answer.promise })
      .create();
    const [first, second] = [one.prompt("go"), other.prompt("go")];
    await mine.asked;
    await first.cancel();
    await first.finish();
    answer.resolve({ outcome: { outcome: "selected", optionId: "allow_once" } });
    expect(await second.finish()).toEqual({ stopReason: "end_turn" });
    expect(scene.answers()).toEqual([
      CANCELLED_PERMISSION,
      { outcome: { outcome: "selected", optionId: "allow_once" } },
    ]);
  });

  it("does not answer other requests: files are still served", async () => {
    const file = deferred<{ content: string }>();
    const asked = deferred();
    const prompts = [{ steps: [{ readFile: { path: "/a", echo: false } }], onCancel: "ignore" as const }];
    const readTextFile = (): Promise<{ content: string }> => {
      asked.resolve();
      return file.promise;
    };
    await using scene = await openScene({ prompts }, { serve: { readTextFile } });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await asked.promise;
    await turn.cancel();
    file.resolve({ content: "still" });
    await turn.finish();
    expect(scene.answers()).toEqual([{ content: "still" }]);
  });

  it("is sent once, no matter how often it is called", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, { waitForCancel: true }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await Promise.all([turn.cancel(), session.cancel(), turn.cancel()]);
    await turn.finish();
    await turn.cancel();
    await scene.client.request("_sync").catch(() => undefined);
    expect(scene.sent("session/cancel")).toHaveLength(1);
  });

  it("does not affect another turn if it comes after the end", async () => {
    await using scene = await openScene({
      prompts: [[{ say: "a" }], [{ say: "b" }, { waitForMessage: "_go" }, { say: "c" }]],
    });
    const session = await scene.client.session("/project").create();
    const first = session.prompt("go");
    await first.finish();
    await first.cancel();
    const second = session.prompt("go");
    await first.cancel();
    await scene.client.notify("_go");
    expect(await second.readText()).toBe("bc");
    expect(scene.sent("session/cancel")).toEqual([]);
  });

  it("does nothing if no turn runs", async () => {
    await using scene = await openScene({ otherwise: [{ say: "a" }] });
    const session = await scene.client.session("/project").create();
    await session.cancel();
    expect(await session.prompt("go").readText()).toBe("a");
    expect(scene.sent("session/cancel")).toEqual([]);
  });

  it("works the same through the turn's signal", async () => {
    const { serve, asked } = silent();
    await using scene = await openScene({ prompts: [[ask]], otherwise: [{ say: "b" }] }, { serve });
    const session = await scene.client.session("/project").create();
    const stop = new AbortController();
    const turn = session.prompt("go", { signal: stop.signal });
    await asked;
    stop.abort();
    expect(await turn.finish()).toEqual({ stopReason: "cancelled" });
    expect(await session.prompt("again").readText()).toBe("b");
  });

  it("does not affect another turn if the signal fires after the end", async () => {
    await using scene = await openScene({ prompts: [[], [{ waitForMessage: "_go" }, { say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const stop = new AbortController();
    await session.prompt("go", { signal: stop.signal }).finish();
    const second = session.prompt("go");
    stop.abort();
    await scene.client.notify("_go");
    expect(await second.readText()).toBe("b");
    expect(scene.sent("session/cancel")).toEqual([]);
  });

  it("removes its listener from the signal when the turn ends", async () => {
    await using scene = await openScene({ otherwise: [{ say: "a" }] });
    const session = await scene.client.session("/project").create();
    const { signal } = new AbortController();
    await session.prompt("go", { signal }).finish();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("ends the turn without sending it if the signal has already fired", async () => {
    await using scene = await openScene({ otherwise: [{ say: "b" }] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("secret", { signal: AbortSignal.abort() });
    expect(await readAll(turn)).toEqual([]);
    expect(await turn.stopReason).toBe("cancelled");
    expect(await session.prompt("go").readText()).toBe("b");
    expect(JSON.stringify(scene.agent.received)).not.toContain("secret");
  });

  it("lets the stop through although nobody reads the updates before it", async () => {
    const prompts = [[{ flood: { count: 400, padding: "x".repeat(16 * 1024) } }, { waitForCancel: true } as const]];
    await using scene = await openScene({ prompts });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await stalled(scene);
    await turn.cancel();
    expect(await turn.stopReason).toBe("cancelled");
    const read = await readAll(turn);
    expect(read.map((word) => parseInt(word.slice("turn ".length), 10))).toEqual(Array.from(read, (_, index) => index));
  });

  it("ignores an answer that the handler gives later", async () => {
    const answer = deferred<never>();
    const asked = deferred();
    const permission = (): Promise<never> => {
      asked.resolve();
      return answer.promise;
    };
    await using scene = await openScene({ prompts: [[ask], [{ say: "b" }]] }, { serve: { permission } });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    await asked.promise;
    await turn.cancel();
    answer.reject(new Error("too late"));
    await turn.finish();
    await session.prompt("again").finish();
    expect(scene.answers()).toEqual([CANCELLED_PERMISSION]);
    expect(scene.agent.problems).toEqual([]);
  });

  it("answers a question that waits for a reader and fires its signal", async () => {
    await using scene = await openScene({ prompts: [[ask]] }, { serve: { unhandled: "read" } });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    const seen: string[] = [];
    for await (const item of turn) {
      seen.push(...describeItems([item]));
      if (item.kind !== "request") continue;
      await turn.cancel();
      expect(item.signal.aborted).toBe(true);
      item.respond("too late");
    }
    expect(seen).toEqual(["asks session/request_permission"]);
    expect(scene.answers()).toEqual([CANCELLED_PERMISSION]);
  });
});

describe("an agent that answers a cancelled prompt with an error", () => {
  const error = { code: -32603, message: "aborted", data: { why: "you" } };
  const script: AcpScript = {
    prompts: [{ steps: [{ say: "a" }, { waitForCancel: true }], onCancel: { answer: { error } } }, [{ say: "b" }]],
  };

  it("counts as having cancelled it", async () => {
    await using scene = await openScene(script);
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    for await (const _ of turn) await turn.cancel();
    expect(await turn.response).toEqual({ stopReason: "cancelled" });
    expect(await session.prompt("again").readText()).toBe("b");
  });

  it("has its error kept in the stop item", async () => {
    await using scene = await openScene(script);
    const session = await scene.client.session("/project").create();
    session.prompt("go");
    await session.next();
    await session.cancel();
    const stop = await session.next();
    if (stop.kind !== "stop") throw new Error(`not a stop: ${stop.kind}`);
    expect(stop.error).toBeInstanceOf(PeerError);
    expect(stop.error?.raw).toEqual(error);
  });

  it("fails the turn if nobody cancelled it", async () => {
    await using scene = await openScene({ prompts: [[{ fail: error }]] });
    const session = await scene.client.session("/project").create();
    expect(await getRejection(session.prompt("go").finish())).toMatchObject({ code: -32603 });
  });
});

it("aborts open questions when the prompt fails", async () => {
  const { serve, asked } = silent();
  const prompts = [[{ atOnce: [[ask], [{ waitForMessage: "_go" }, { fail: { code: 1, message: "no" } }]] }]];
  await using scene = await openScene({ prompts }, { serve });
  const session = await scene.client.session("/project").create();
  const turn = session.prompt("go");
  const { signal } = await asked;
  await scene.client.notify("_go");
  await getRejection(turn.finish());
  expect(signal.aborted).toBe(true);
});

it("answers a request that waits for a reader when the agent cancels it", async () => {
  await using scene = await openScene(
    { prompts: [[{ request: { method: "_own/ask" } }]] },
    { serve: { unhandled: "read" } },
  );
  const session = await scene.client.session("/project").create();
  const turn = session.prompt("go");
  for await (const item of turn) {
    if (item.kind !== "request") continue;
    await turn.cancel(); // the scripted agent then cancels its request
    await new Promise((resolve) => item.signal.addEventListener("abort", resolve));
  }
  await getRejection(scene.client.request("_sync"));
  expect(scene.answers()).toMatchObject([{ code: -32800 }]);
});
