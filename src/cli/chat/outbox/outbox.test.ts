import { describe, expect, it } from "vitest";
import type { QueuedInput } from "../../../domain/state.ts";
import { deferred } from "../../../stdx/deferred.ts";
import { ChatOutbox, type OutboxActions } from "./outbox.ts";

const OUTPUT = { command: "ls", text: "a.ts", end: "exit code 0" };
const CONTEXT = "\nOutput of `ls` (exit code 0):\n\na.ts";

/** An outbox whose actions are recorded as lines. */
function openOutbox(actions: Partial<OutboxActions> = {}) {
  const lines: string[] = [];
  const handled: (() => void)[] = [];
  const outbox = new ChatOutbox({
    runCommand: async (text) => text.startsWith("/"),
    send: async (prompt, deliver, context) => {
      lines.push([`send ${prompt} (${deliver})`, ...context].join(" + "));
      return undefined;
    },
    withdraw: async (queue) => queue,
    canHoldFollowUp: () => false,
    hasQueue: () => false,
    returnText: (text) => void lines.push(`return ${text}`),
    prependText: (text) => void lines.push(`prepend ${text}`),
    fail: (error) => void lines.push(String(error)),
    refresh: () => handled.shift()?.(),
    ...actions,
  });
  /** Resolves when the input has been handled. */
  const submit = (text: string, deliver: "steer" | "follow_up" = "steer"): Promise<void> =>
    new Promise((resolve) => {
      handled.push(resolve);
      outbox.submit(text, deliver);
    });
  return { outbox, lines, submit };
}

const queuedInput = (inputId: string, text: string): QueuedInput => ({
  inputId,
  input: [{ type: "text", text }],
  deliver: "steer",
});

describe("submitted inputs", () => {
  it("are sent in the order in which they were typed, and are unsent until then", async () => {
    const agent = deferred<undefined>();
    const prompts: string[] = [];
    const send = async (prompt: string): Promise<undefined> => {
      if (prompt === "one") await agent.promise;
      prompts.push(prompt);
    };
    const { outbox, submit } = openOutbox({ send });
    const first = submit("one");
    const second = submit("two");
    expect(outbox.unsent).toEqual(["one", "two"]);
    agent.resolve(undefined);
    await first;
    expect(outbox.unsent).toEqual(["two"]);
    await second;
    expect(outbox.unsent).toEqual([]);
    expect(prompts).toEqual(["one", "two"]);
  });

  it("are returned and not sent if the chat ends while a command runs", async () => {
    const [started, command] = [deferred(), deferred<boolean>()];
    const runCommand = async (text: string): Promise<boolean> => {
      if (text !== "!make") return false;
      started.resolve();
      return command.promise;
    };
    const { outbox, lines, submit } = openOutbox({ runCommand });
    const first = submit("!make");
    outbox.submit("one", "steer");
    outbox.submit("two", "follow_up");
    await started.promise;
    expect(outbox.close()).toEqual(["one", "two"]);
    command.resolve(true);
    await first;
    await new Promise(setImmediate); // what waits behind the command would be sent before this
    expect(lines).toEqual([]);
  });

  it("take the kept outputs with them, unless they are commands", async () => {
    const { outbox, lines, submit } = openOutbox();
    outbox.outputs.add(OUTPUT);
    await submit("/help");
    await submit("what is this?");
    await submit("and now?");
    expect(lines).toEqual([`send what is this? (steer) + ${CONTEXT}`, "send and now? (steer)"]);
  });

  it("come back with their outputs if they cannot be sent", async () => {
    const { outbox, lines, submit } = openOutbox({ send: () => Promise.reject(new Error("no agent")) });
    outbox.outputs.add(OUTPUT);
    await submit("one");
    expect(lines).toEqual(["return one", "Error: no agent"]);
    expect(outbox.outputs.take()).toEqual([OUTPUT]);
  });
});

describe("follow-ups", () => {
  it("wait for the end of a turn, and are sent one by one", async () => {
    let isQueued = true;
    const sent = deferred();
    const { outbox, lines, submit } = openOutbox({
      canHoldFollowUp: () => true,
      hasQueue: () => isQueued,
      send: async (prompt) => {
        sent.resolve();
        lines.push(`send ${prompt}`);
        return undefined;
      },
    });
    await submit("one", "follow_up");
    await submit("two", "follow_up");
    expect(outbox.queued).toHaveLength(2);
    outbox.sendFollowUp();
    expect(outbox.queued).toHaveLength(2);
    isQueued = false;
    outbox.sendFollowUp();
    await sent.promise;
    expect(lines).toEqual(["send one"]);
    expect(outbox.close()).toEqual(["two"]);
  });

  it("all come back if one cannot be sent, because no turn would send the others", async () => {
    const failed = deferred();
    const { outbox, lines, submit } = openOutbox({
      canHoldFollowUp: () => true,
      send: () => Promise.reject(new Error("no agent")),
      fail: () => failed.resolve(),
    });
    outbox.outputs.add(OUTPUT);
    await submit("one", "follow_up");
    await submit("two", "follow_up");
    outbox.sendFollowUp();
    await failed.promise;
    expect(lines).toEqual(["return one", "prepend two"]);
    expect(outbox.queued).toEqual([]);
    expect(outbox.outputs.take()).toEqual([OUTPUT]);
  });
});

describe("withdrawn inputs", () => {
  it("come back before the follow-ups, as the person typed them", async () => {
    let canHold = false;
    const { outbox, lines, submit } = openOutbox({
      send: async () => "in_1",
      canHoldFollowUp: () => canHold,
    });
    outbox.outputs.add(OUTPUT);
    await submit("typed text");
    canHold = true;
    await submit("later", "follow_up");
    await outbox.withdraw([queuedInput("in_1", "expanded text"), queuedInput("in_2", "of another chat")]);
    expect(lines).toEqual(["prepend typed text\n\nof another chat\n\nlater"]);
    expect(outbox.outputs.take()).toEqual([OUTPUT]);
  });

  it("are reported as withdrawn by this chat once, even if the agent received them first", async () => {
    const { outbox, lines } = openOutbox({ withdraw: async () => [] });
    await outbox.withdraw([queuedInput("in_1", "one")]);
    expect(lines).toEqual([]);
    expect(outbox.forgetWithdrawn("in_1")).toBe(true);
    expect(outbox.forgetWithdrawn("in_1")).toBe(false);
    expect(outbox.forgetWithdrawn("in_2")).toBe(false);
  });
});
