import { describe, expect, it } from "vitest";
import { isRookeryError } from "../../domain/errors.ts";
import { deferred } from "../../stdx/index.ts";
import { methodNotFound, PeerError } from "../index.ts";
import { getRejection, openScene, readAll, stalled, describeItems } from "./test-scene.ts";

const many = { flood: { count: 200, padding: "x".repeat(32 * 1024) } }; // 6 MiB, more than may wait unread

describe("a turn", () => {
  it("is read until the agent stops", async () => {
    await using scene = await openScene({
      prompts: [[{ think: "Hm" }, { say: ["Hel", "lo"] }, { stop: "max_tokens" }]],
    });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("Hi");
    expect(await readAll(turn)).toEqual(["turn Hm", "turn Hel", "turn lo"]);
    expect(await turn.stopReason).toBe("max_tokens");
    expect(await turn.response).toEqual({ stopReason: "max_tokens" });
  });

  it("returns the agent's text", async () => {
    await using scene = await openScene({ prompts: [[{ think: "Hm" }, { say: ["Hel", "lo"] }]] });
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("Hi").readText()).toBe("Hello");
  });

  it("returns its complete response from finish()", async () => {
    await using scene = await openScene({ prompts: [{ steps: [many], answer: { merge: { usage: { tokens: 1 } } } }] });
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("Hi").finish()).toEqual({ stopReason: "end_turn", usage: { tokens: 1 } });
  });

  it.each([
    ["a text", "Hi", [{ type: "text", text: "Hi" }]],
    [
      "one block",
      { type: "text", text: "Hi", _meta: { a: 1 } } as const,
      [{ type: "text", text: "Hi", _meta: { a: 1 } }],
    ],
    [
      "a list",
      [
        { type: "text", text: "a" },
        { type: "resource_link", uri: "file:///a", name: "a" },
      ] as const,
      [
        { type: "text", text: "a" },
        { type: "resource_link", uri: "file:///a", name: "a" },
      ],
    ],
    ["nothing", [], []],
  ])("is prompted with %s", async (_what, prompt, blocks) => {
    await using scene = await openScene({ otherwise: [] });
    const session = await scene.client.session("/project").create();
    await session.prompt(prompt).finish();
    expect(scene.sent("session/prompt")).toEqual([{ sessionId: "session-1", prompt: blocks }]);
  });

  it("ends with a stop item for readers without a turn", async () => {
    await using scene = await openScene({ otherwise: [{ say: "hi" }] });
    const session = await scene.client.session("/project").create();
    session.prompt("one");
    expect(describeItems([await session.next(), await session.next()])).toEqual(["turn hi", "stop end_turn"]);
    session.prompt("two");
    expect(describeItems([await session.next(), await session.next()])).toEqual(["turn hi", "stop end_turn"]);
  });

  it("is refused while another turn runs, which continues", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, { waitForMessage: "_go" }, { say: "b" }], []] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    expect(() => session.prompt("two")).toThrow(expect.objectContaining({ code: "turn_in_progress" }));
    await scene.client.notify("_go");
    expect(await turn.readText()).toBe("ab");
    await session.prompt("two").finish();
    expect(scene.sent("session/prompt")).toHaveLength(2);
  });

  it("can start as soon as the previous one is answered, read or not", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }], [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const first = session.prompt("one");
    await first.response;
    const second = session.prompt("two");
    expect(await second.readText()).toBe("b");
    expect(await first.readText()).toBe("a");
  });

  it("can have two readers, each of which gets different items", async () => {
    await using scene = await openScene({ prompts: [[{ flood: { count: 500 } }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    const [one, other] = await Promise.all([readAll(turn), readAll(turn)]);
    const numbers = [...one, ...other].map((word) => parseInt(word.slice("turn ".length), 10));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, index) => index));
  });
});

describe("leaving a turn early", () => {
  it("does not block the agent, and the next turn contains nothing of it", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, many, { say: "z" }], [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    for await (const item of turn) {
      expect(describeItems([item])).toEqual(["turn a"]);
      break;
    }
    expect(await turn.stopReason).toBe("end_turn");
    expect(await readAll(session.prompt("two"))).toEqual(["turn b"]);
    expect(scene.sent("session/cancel")).toEqual([]);
  });

  it("by an error in the reader does not block the agent either", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, many], [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    const reading = async (): Promise<void> => {
      for await (const item of turn) throw new Error(`bad reader: ${item.kind}`);
    };
    expect((await getRejection(reading())).message).toBe("bad reader: update");
    await session.idle();
    expect(await session.prompt("two").readText()).toBe("b");
  });

  it("lets a waiting agent continue", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, many], [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const reader = session.prompt("one")[Symbol.asyncIterator]();
    await reader.next();
    await stalled(scene);
    await reader.return?.();
    await session.idle();
    expect(await session.prompt("two").readText()).toBe("b");
  });

  it("leaves nothing more to read in that turn", async () => {
    await using scene = await openScene({ prompts: [[{ say: "a" }, { waitForMessage: "_go" }, { say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    for await (const _ of turn) break;
    await scene.client.notify("_go");
    expect(await readAll(turn)).toEqual([]);
    expect(await turn.stopReason).toBe("end_turn");
  });

  it("refuses requests that only the reader would have answered", async () => {
    const ask = { request: { method: "_own/ask", echo: false } };
    await using scene = await openScene(
      { prompts: [[{ say: "a" }, ask, ask, { say: "b" }]] },
      { serve: { unhandled: "read" } },
    );
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    for await (const item of turn) {
      if (item.kind !== "request") continue;
      item.fail(methodNotFound("read, and refused"));
      break;
    }
    expect(await turn.stopReason).toBe("end_turn");
    expect(scene.answers()).toMatchObject([{ code: -32601 }, { code: -32601 }]);
  });
});

describe("a prompt that fails", () => {
  it("fails only its turn, with the agent's complete error", async () => {
    const error = { code: -32603, message: "overloaded", data: { retry: true }, hint: "later" };
    await using scene = await openScene({ prompts: [[{ say: "a" }, { fail: error }], [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    const seen: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const item of turn) seen.push(...describeItems([item]));
    };
    const failed = await getRejection(reading());
    expect(seen).toEqual(["turn a"]);
    expect(failed).toBeInstanceOf(PeerError);
    expect((failed as PeerError).raw).toMatchObject({ code: -32603, message: "overloaded", data: { retry: true } });
    expect(await getRejection(turn.response)).toBe(failed);
    expect(await getRejection(turn.stopReason)).toBe(failed);
    expect(await getRejection(turn.finish())).toBe(failed);
    expect(await session.prompt("two").readText()).toBe("b");
  });

  it("does not fail the next turn if it was not read", async () => {
    await using scene = await openScene({
      prompts: [[{ say: "a" }, { fail: { code: 1, message: "no" } }], [{ say: "b" }]],
    });
    const session = await scene.client.session("/project").create();
    await getRejection(session.prompt("one").response);
    expect(await session.prompt("two").readText()).toBe("b");
  });

  it("is reported to readers without a turn, who can continue", async () => {
    await using scene = await openScene({
      prompts: [[{ say: "a" }, { fail: { code: 1, message: "no" } }], [{ say: "b" }]],
    });
    const session = await scene.client.session("/project").create();
    session.prompt("one");
    expect(describeItems([await session.next()])).toEqual(["turn a"]);
    expect((await getRejection(session.next())).message).toBe("no");
    session.prompt("two");
    expect(describeItems([await session.next()])).toEqual(["turn b"]);
  });

  it.each([
    ["null", null],
    ["nothing in it", {}],
    ["a stop reason that is not a string", { stopReason: 1 }],
  ])("is what an answer with %s counts as", async (_what, result) => {
    await using scene = await openScene({ prompts: [{ answer: { result } }, [{ say: "b" }]] });
    const session = await scene.client.session("/project").create();
    const error = await getRejection(session.prompt("one").finish());
    expect(isRookeryError(error, "agent_failed")).toBe(true);
    expect(await session.prompt("two").readText()).toBe("b");
  });

  it("because its answer is too large fails only its turn", async () => {
    await using scene = await openScene(
      { prompts: [{ answer: { merge: { big: "x".repeat(70 * 1024) } } }, [{ say: "b" }]] },
      {},
      { maxMessageBytes: 64 * 1024 },
    );
    const session = await scene.client.session("/project").create();
    expect((await getRejection(session.prompt("one").finish())).name).toBe("MessageTooLarge");
    expect(await session.prompt("two").readText()).toBe("b");
  });

  it("because its params are not serializable fails only its turn", async () => {
    await using scene = await openScene({ otherwise: [{ say: "b" }] });
    const session = await scene.client.session("/project").create();
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    expect(await getRejection(session.prompt({ type: "text", text: "a", _meta: cyclic }).finish())).toBeInstanceOf(
      TypeError,
    );
    expect(await session.prompt("two").readText()).toBe("b");
  });
});

describe("closing a session", () => {
  it("closes it at the agent and refuses further prompts", async () => {
    await using scene = await openScene({});
    const session = await scene.client.session("/project").create();
    await session.close();
    expect(scene.sent("session/close")).toEqual([{ sessionId: "session-1" }]);
    expect(() => session.prompt("hi")).toThrow(expect.objectContaining({ code: "session_closed" }));
    await session.close();
    expect(scene.sent("session/close")).toHaveLength(1);
    expect(isRookeryError(await getRejection(session.next()), "session_closed")).toBe(true);
  });

  it("stops the running turn and cancels its open questions", async () => {
    const asked = deferred();
    const permission = (): Promise<never> => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    await using scene = await openScene({ prompts: [[{ permission: { echo: false } }]] }, { serve: { permission } });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    await asked.promise;
    await session.close();
    expect(await turn.finish()).toEqual({ stopReason: "cancelled" });
    expect(scene.answers()).toEqual([{ outcome: { outcome: "cancelled" } }]);
    expect(isRookeryError(await getRejection(session.next()), "session_closed")).toBe(true);
  });

  it("only leaves the session if the agent does not support closing", async () => {
    const agentCapabilities = { sessionCapabilities: { close: null } };
    await using scene = await openScene({ initialize: { agentCapabilities }, prompts: [[{ waitForCancel: true }]] });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("one");
    await session.close();
    expect(await turn.stopReason).toBe("cancelled");
    expect(scene.sent("session/close")).toEqual([]);
  });

  it("leaves the session even if the agent refuses to close it", async () => {
    await using scene = await openScene({ on: { "session/close": { answer: { error: { code: 1, message: "no" } } } } });
    const session = await scene.client.session("/project").create();
    expect((await getRejection(session.close())).message).toBe("no");
    expect(session.isLeft).toBe(true);
  });

  it("is different from disposing it, after which it can be resumed", async () => {
    await using scene = await openScene({ otherwise: [{ say: "hi" }] });
    {
      await using left = await scene.client.session("/project").create();
      await left.prompt("one").finish();
    }
    const session = await scene.client.session("/project").resume("session-1");
    expect(await session.prompt("two").readText()).toBe("hi");
    expect(scene.sent("session/close")).toEqual([]);
  });
});

it("sets a session's mode, options and model", async () => {
  await using scene = await openScene({
    modes: {
      currentModeId: "ask",
      availableModes: [
        { id: "ask", name: "Ask" },
        { id: "code", name: "Code" },
      ],
    },
    models: { currentModelId: "a", availableModels: [{ modelId: "a" }, { modelId: "b" }] },
    configOptions: [
      { type: "boolean", id: "fast", name: "Fast", currentValue: false },
      {
        type: "select",
        id: "effort",
        name: "Effort",
        currentValue: "low",
        options: [
          { value: "low", name: "Low" },
          { value: "high", name: "High" },
        ],
      },
    ],
  });
  const session = await scene.client.session("/project").create();
  await session.setMode("code");
  await session.setModel("b");
  await session.setConfigOption("fast", true);
  const { configOptions } = await session.setConfigOption("effort", "high");
  expect(configOptions).toMatchObject([
    { id: "fast", currentValue: true },
    { id: "effort", currentValue: "high" },
  ]);
  expect(scene.sent("session/set_config_option")).toEqual([
    { sessionId: "session-1", configId: "fast", type: "boolean", value: true },
    { sessionId: "session-1", configId: "effort", value: "high" },
  ]);
  expect(await getRejection(session.setMode("none"))).toBeInstanceOf(PeerError);
});
