import { describe, expect, it } from "vitest";
import type { AcpStoredSession } from "../../testing/acp-agent/index.ts";
import type { UpdateItem } from "../index.ts";
import { openScene, readAll, toolCall, updateLine, describeItems } from "./test-scene.ts";

function stored(...texts: string[]): AcpStoredSession {
  const history = texts.map((text) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }));
  return { sessionId: "old", cwd: "/project", history };
}

describe("a loaded session", () => {
  it("marks its history as replay", async () => {
    await using scene = await openScene({
      sessions: [stored("one", "two")],
      on: { "session/load": { after: [{ say: "ready" }, { notify: { method: "_ready" } }] } },
      otherwise: [{ say: "three" }],
    });
    const session = await scene.client.session("/project").load("old");
    expect(describeItems([await session.next(), await session.next(), await session.next()])).toEqual([
      "replay one",
      "replay two",
      "between ready",
    ]);
    expect(await readAll(session.prompt("go"))).toEqual(["turn three"]);
  });

  it("returns its history from take() but not while iterating over a turn", async () => {
    await using scene = await openScene({ sessions: [stored("one", "two")], otherwise: [{ say: "three" }] });
    const session = await scene.client.session("/project").load("old");
    expect(await session.prompt("go").readText()).toBe("three");
    expect(session.take()).toEqual([]);
    await session.close();
    const again = await scene.client.session("/project").load("old");
    expect(describeItems(again.take())).toEqual(["replay one", "replay two", "replay go", "replay three"]);
    expect(await readAll(again.prompt("go"))).toEqual(["turn three"]);
  });

  it("marks history that the agent replays late as between", async () => {
    await using scene = await openScene({
      sessions: [stored("one", "two")],
      replay: "after",
      otherwise: [{ say: "hi" }],
    });
    const session = await scene.client.session("/project").load("old");
    expect(describeItems([await session.next(), await session.next()])).toEqual(["between one", "between two"]);
    expect(await readAll(session.prompt("go"))).toEqual(["turn hi"]);
  });

  it("passes its history to a slow update handler before load resolves", async () => {
    const seen: string[] = [];
    await using scene = await openScene({ sessions: [stored("one", "two", "three")] });
    const update = async (item: UpdateItem): Promise<void> => {
      await new Promise(setImmediate);
      seen.push(...describeItems([item]));
    };
    await scene.client.session("/project").serve({ update }).load("old");
    expect(seen).toEqual(["replay one", "replay two", "replay three"]);
  });

  it("rejects load if the update handler throws for its history", async () => {
    const bad = new Error("bad handler");
    await using scene = await openScene({ sessions: [stored("one", "two")] });
    const loading = scene.client
      .session("/project")
      .serve({ update: () => Promise.reject(bad) })
      .load("old");
    await expect(loading).rejects.toBe(bad);
    expect((await scene.client.session("/project").load("old")).id).toBe("old");
  });

  it("reports input_too_large for too much history and continues", async () => {
    const texts = Array.from({ length: 70 }, (_, index) => `${index} ${"x".repeat(1024 * 1024)}`);
    await using scene = await openScene({ sessions: [stored(...texts)], otherwise: [{ say: "hi" }] });
    const session = await scene.client.session("/project").load("old");
    await expect(session.next()).rejects.toMatchObject({ code: "input_too_large" });
    expect(await session.prompt("go").readText()).toBe("hi");
  });
});

describe("outside of a turn", () => {
  it("marks updates before the first prompt and after a response as between", async () => {
    await using scene = await openScene({
      on: { "session/new": { after: [{ say: "commands" }] } },
      prompts: [{ steps: [{ say: "one" }], after: [{ say: "tail" }] }, [{ say: "two" }]],
    });
    const session = await scene.client.session("/project").create();
    expect(describeItems([await session.next()])).toEqual(["between commands"]);
    expect(await readAll(session.prompt("go"))).toEqual(["turn one"]);
    expect(describeItems([await session.next()])).toEqual(["between tail"]);
    expect(await readAll(session.prompt("go"))).toEqual(["turn two"]);
  });

  it("yields unread updates first in the next turn, but not as part of its text", async () => {
    await using scene = await openScene({
      prompts: [
        { steps: [{ say: "one" }], after: [{ say: "tail" }] },
        { steps: [{ say: "two" }], after: [{ say: "tail" }] },
        [{ say: "three" }],
      ],
    });
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("go").readText()).toBe("one");
    expect(await readAll(session.prompt("go"))).toEqual(["between tail", "turn two"]);
    expect(await session.prompt("go").readText()).toBe("three");
  });

  it("does not count updates that arrived before a prompt as part of its turn", async () => {
    const response = JSON.stringify({ jsonrpc: "2.0", id: 3, result: { stopReason: "end_turn" } });
    const written = `${updateLine("one")}${response}\n${updateLine("tail")}noise\n${updateLine("tail")}`;
    await using scene = await openScene({
      prompts: [{ steps: [{ write: written }], answer: { times: 0 } }, [{ say: "tail" }, { say: "tail" }]],
    });
    const session = await scene.client.session("/project").create();
    expect(await session.prompt("go").readText()).toBe("one");
    expect(await readAll(session.prompt("go"))).toEqual(["between tail", "between tail", "turn tail", "turn tail"]);
  });

  it("keeps the latest updates within the limit and counts the dropped ones", async () => {
    await using scene = await openScene({
      prompts: [
        {
          steps: [],
          after: [
            { flood: { count: 100, padding: "x".repeat(32 * 1024) } },
            { request: { method: "_done", echo: false } },
          ],
        },
      ],
    });
    const session = await scene.client.session("/project").create();
    await session.prompt("go").finish();
    await expect.poll(() => scene.answers().length).toBe(1);
    const kept = describeItems(session.take());
    expect(session.dropped).toBe(100 - kept.length);
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.length).toBeLessThan(33);
    expect(kept.map((word) => parseInt(word.slice("between ".length), 10))).toEqual(
      Array.from(kept, (_, index) => 100 - kept.length + index),
    );
  });
});

describe("late updates of a cancelled turn", () => {
  it("are not part of the next turn if they concern its tool calls or messages", async () => {
    const message = (text: string, messageId: string) => ({
      update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } },
    });
    await using scene = await openScene({
      prompts: [
        [toolCall("tool-1"), message("a", "m1"), { waitForCancel: true }],
        [
          toolCall("tool-1", "tool_call_update"),
          message("b", "m1"),
          toolCall("tool-2"),
          message("c", "m2"),
          { say: "d" },
        ],
      ],
    });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    const seen: string[] = [];
    for await (const item of turn) {
      seen.push(...describeItems([item]));
      if (seen.length === 2) await turn.cancel();
    }
    expect(seen).toEqual(["turn tool-1", "turn a"]);
    const next = session.prompt("go");
    expect(await readAll(next)).toEqual(["between tool-1", "between b", "turn tool-2", "turn c", "turn d"]);
  });

  it("are not assumed if a new tool call reuses an old id", async () => {
    await using scene = await openScene({
      prompts: [
        [toolCall("tool-1"), { waitForCancel: true }],
        [toolCall("tool-1"), toolCall("tool-1", "tool_call_update")],
      ],
    });
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    for await (const item of turn) if (item.kind === "update") await turn.cancel();
    expect(await readAll(session.prompt("go"))).toEqual(["turn tool-1", "turn tool-1"]);
  });

  it("belong to the turn in which they arrive if the old turn was not cancelled", async () => {
    await using scene = await openScene({ prompts: [[toolCall("tool-1")], [toolCall("tool-1", "tool_call_update")]] });
    const session = await scene.client.session("/project").create();
    await session.prompt("go").finish();
    expect(await readAll(session.prompt("go"))).toEqual(["turn tool-1"]);
  });

  it("get their permission requests refused after the turn has ended", async () => {
    const asked: unknown[] = [];
    const late = (toolCallId: string) => ({ permission: { toolCall: { toolCallId }, echo: false } });
    await using scene = await openScene(
      {
        prompts: [
          {
            steps: [toolCall("tool-1"), { waitForCancel: true }],
            onCancel: { after: [late("tool-1"), late("other")] },
          },
        ],
      },
      {
        serve: {
          permission: ({ toolCall: { toolCallId } }) => {
            asked.push(toolCallId);
            return { outcome: { outcome: "selected", optionId: "allow_once" } };
          },
        },
      },
    );
    const session = await scene.client.session("/project").create();
    const turn = session.prompt("go");
    for await (const item of turn) if (item.kind === "update") await turn.cancel();
    await expect.poll(() => scene.answers().length).toBe(2);
    expect(scene.answers()[0]).toEqual({ outcome: { outcome: "cancelled" } });
    expect(asked).toEqual(["other"]);
  });
});

it("takes all unread items at once, in order", async () => {
  const ask = JSON.stringify({ jsonrpc: "2.0", id: "q", method: "_own/ask", params: { sessionId: "old" } });
  await using scene = await openScene(
    {
      sessions: [stored("one")],
      on: { "session/load": { after: [{ say: "ready" }] } },
      prompts: [
        { steps: [{ say: "two" }], after: [{ say: "tail" }] },
        [{ write: `${updateLine("three", "old")}${ask}\n${updateLine("four", "old")}` }],
      ],
    },
    { serve: { unhandled: "read" } },
  );
  const session = await scene.client.session("/project").load("old");
  await session.prompt("go").response;
  await session.prompt("go").response;
  expect(describeItems(session.take())).toEqual([
    "replay one",
    "between ready",
    "turn two",
    "stop end_turn",
    "between tail",
    "turn three",
    "asks _own/ask",
    "turn four",
    "stop end_turn",
  ]);
  expect(session.take()).toEqual([]);
});
