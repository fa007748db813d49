import { describe, expect, it } from "vitest";
import type { ConversationMessage, SessionEvent } from "../domain/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { call, fault, readAcpRecord, say, writeAcpAgent, type Reply } from "../testing/index.ts";
import { MAX_MESSAGES } from "./conversation.ts";
import { MAX_INPUT_BYTES } from "./input.ts";
import { LATER, dyingAfter, openScene } from "./test-scene.ts";

const OTHER: ConversationMessage[] = [
  { role: "user", text: "the other question" },
  { role: "assistant", text: "the other answer" },
];

type Scene = Awaited<ReturnType<typeof openScene>>;

/** The roles and texts of the last request. */
function given({ model }: Pick<Scene, "model">): string[] {
  return model.requests.at(-1)!.messages.map(({ role, text }) => `${role} ${text}`);
}

const EXACTLY = ["user the other question", "assistant the other answer", "user next"];

describe("replacing the conversation", () => {
  it("makes the next request contain exactly the new messages and the input", async () => {
    await using s = await openScene([say("one"), say("two")]);
    await s.session.prompt("first").outcome;
    await s.session.replaceConversation(OTHER);
    await s.session.prompt("next").outcome;
    expect(given(s)).toEqual(EXACTLY);
    expect(await s.lines()).toEqual([
      "opened anthropic",
      "started first",
      "says one",
      "ended done",
      "replaced by 2 messages",
      "started next",
      "says two",
      "ended done",
    ]);
  });

  it("with no messages starts an empty conversation", async () => {
    await using s = await openScene([say("one"), say("two")]);
    await s.session.prompt("first").outcome;
    await s.session.replaceConversation([]);
    await s.session.prompt("next").outcome;
    expect(given(s)).toEqual(["user next"]);
  });

  const slow = call("bash", { command: "sleep 60" });
  const stalled = fault("stall", { text: ["half ", "a ", "sentence"], afterEvents: 4 });
  it.each<[string, Reply, "all" | "ask", SessionEvent["type"]]>([
    ["a stream", stalled, "all", "message.delta"],
    ["a tool", slow, "all", "tool.started"],
    ["a wait", slow, "ask", "permission.requested"],
  ])("during %s cancels the turn, and none of it continues", async (_, reply, permissions, moment) => {
    await using s = await openScene([reply, say("two")], { permissions });
    const turn = s.session.prompt("first");
    await s.session.queue("waiting");
    for await (const event of turn) if (event.type === moment) break;
    await s.session.replaceConversation(OTHER);
    expect(await turn.outcome).toEqual({ status: "cancelled" });
    await s.session.idle();
    await s.session.prompt("next").outcome;
    expect(given(s)).toEqual(EXACTLY);
    const lines = await s.lines();
    const ended = lines.indexOf("ended cancelled");
    expect(lines.slice(ended)).toEqual([
      "ended cancelled",
      "replaced by 2 messages",
      "started next",
      "says two",
      "ended done",
    ]);
    expect(s.model.problems).toEqual([]);
  });

  it("keeps later input and a pending switch", async () => {
    await using s = await openScene([call("bash", { command: "sleep 60" }), say("two")], { permissions: "all" });
    await s.configure(`[agents.reviewer]\nbackend = "api"\nmodel = "anthropic/claude-reviewer"\n`);
    for await (const event of s.session.prompt("first")) if (event.type === "tool.started") break;
    const switching = s.session.change({ agent: "reviewer" });
    const replacing = s.session.replaceConversation(OTHER);
    await s.session.queue("next");
    await Promise.all([switching, replacing]);
    await s.session.idle();
    expect(given(s)).toEqual(EXACTLY);
    expect(s.model.requests.at(-1)!.model).toBe("claude-reviewer");
  });

  it("is atomic if the process dies", async () => {
    const outcomes = new Set<string>();
    for (let commits = 1, died = true; died; commits += 1) {
      const store = openMemoryStore();
      await using s = await openScene(() => say("said"), {}, dyingAfter(store, commits));
      const whole = async () => {
        await s.session.prompt("first").outcome;
        await s.session.replaceConversation(OTHER);
      };
      died = await whole().then(
        () => false,
        () => true,
      );
      const next = await s.open(LATER, store);
      const again = await next.openSession({ id: s.session.id });
      await again.idle();
      await again.prompt("next").outcome;
      outcomes.add(given(s).slice(0, -1).join(", "));
      await next.close();
    }
    const unsaid = ""; // the process died before the first turn
    const [old, other] = ["user first, assistant said", "user the other question, assistant the other answer"];
    expect(outcomes).toContain(other);
    expect([...outcomes].filter((told) => ![unsaid, old, other].includes(told))).toEqual([]);
  });

  it("makes a program forget its session, and hands over only the new messages", async () => {
    await using s = await openScene([]);
    const record = `${s.home}/record`;
    const { command } = await writeAcpAgent(s.home, { record, prompts: [[{ say: ["one"] }], [{ say: ["two"] }]] });
    await s.configure(`[agents.program]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}`);
    await s.session.change({ agent: "program" });
    await s.session.prompt("first").outcome;
    await s.session.replaceConversation(OTHER);
    expect(s.session.state.nativeId).toBeUndefined();
    await s.session.prompt("next").outcome;
    const prompts = (await readAcpRecord(record))
      .map((entry) => JSON.stringify(entry))
      .filter((text) => text.includes('"session/prompt"'));
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toMatch(/User: the other question.*Agent: the other answer.*next/);
    expect(prompts[1]).not.toMatch(/first|Agent: one/);
    const connected = (await s.events(s.session.id)).filter((event) => event.type === "agent.connected");
    expect(connected.map(({ how }) => how)).toEqual(["new", "handed_over"]);
  });

  it.each<[string, ConversationMessage[], string]>([
    ["an empty message", [{ role: "user", text: " " }], "input_invalid"],
    ["a first message from the assistant", [{ role: "assistant", text: "hi" }], "input_invalid"],
    [
      "too many messages",
      Array.from({ length: MAX_MESSAGES + 1 }, () => ({ role: "user", text: "a" })),
      "input_too_large",
    ],
    ["too many bytes", [{ role: "user", text: "a".repeat(MAX_INPUT_BYTES + 1) }], "input_too_large"],
  ])("with %s is rejected, and the turn continues", async (_, messages, code) => {
    await using s = await openScene([say("one")]);
    const turn = s.session.prompt("first");
    await expect(s.session.replaceConversation(messages)).rejects.toMatchObject({ code });
    expect(await turn.outcome).toMatchObject({ status: "done" });
  });
});
