import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import type { AcpScript } from "../../testing/acp-agent/index.ts";
import { settle } from "../conductor/test-line-client.ts";
import type { NotificationHandler, NotificationVerdict, ProxiedNotification } from "../index.ts";
import { conducted, direct, type Sides } from "./test-sides.ts";

const SPEECH: AcpScript = { prompts: [[{ say: "one" }, { say: "two" }, { say: "three" }]] };

const textOf = ({ params }: ProxiedNotification): string =>
  (params as { update: { content: { text: string } } }).update.content.text;

function withText({ params }: ProxiedNotification, text: string): { params: object } {
  const { update, ...rest } = params as { update: object };
  return { params: { ...rest, update: { ...update, content: { type: "text", text } } } };
}

async function prompt({ client }: Sides): Promise<void> {
  await client.answerTo(client.prompt(await client.newSession()));
}

describe.each([
  ["between two transports", direct],
  ["in a conductor's chain", conducted],
])("a proxy %s", (_, open) => {
  it("sees, changes and drops updates, and lets others pass, in order", async () => {
    const seen: string[] = [];
    const handler: NotificationHandler = async (notification) => {
      const text = textOf(notification);
      seen.push(text);
      await settle(text === "one" ? 3 : 0);
      if (text === "one") return withText(notification, "uno");
      return text === "two" ? "drop" : undefined;
    };
    await using scene = open(SPEECH, { agentNotifications: { "session/update": handler } });
    await prompt(scene);
    expect(seen).toEqual(["one", "two", "three"]);
    expect(scene.client.text).toBe("uno|three");
    expect(scene.client.messages.at(-1)).toMatchObject({ result: { stopReason: "end_turn" } });
  });

  it("changes and drops notifications of the client", async () => {
    const handler: NotificationHandler = ({ params }) =>
      (params as { n: number }).n === 1 ? "drop" : { params: { n: 20 } };
    await using scene = open({}, { clientNotifications: { "_ext/told": handler } });
    await scene.client.newSession();
    for (const n of [1, 2]) scene.client.send({ method: "_ext/told", params: { n } });
    expect(await scene.agent.receivedMethod("_ext/told")).toEqual({ n: 20 });
  });

  it.each<[string, RegExp, NotificationHandler]>([
    ["throws", /threw: oops/, () => { throw new Error("oops"); }], // prettier-ignore
    ["rejects", /threw: oops/, () => Promise.reject(new Error("oops"))],
    ["hangs", /took longer than 20 ms/, () => new Promise(() => undefined)],
    ["returns true", /returned neither/, () => true as unknown as NotificationVerdict],
    ["returns params of the wrong type", /returned neither/, () => ({ params: "x" }) as unknown as NotificationVerdict],
    ["changes the session", /changed the session id/, () => ({ params: { sessionId: "other" } })],
    [
      "returns params that JSON cannot hold",
      /cannot be serialized/,
      ({ params }) => ({ params: { ...(params as object), big: 1n } }),
    ],
  ])("drops and reports an update whose handler %s, and goes on", async (_how, message, fail) => {
    const errors: unknown[] = [];
    const handler: NotificationHandler = (update) => (textOf(update) === "two" ? fail(update) : undefined);
    await using scene = open(SPEECH, {
      agentNotifications: { "session/update": handler },
      notificationTimeoutMs: 20,
      onError: (error) => errors.push(error),
    });
    await prompt(scene);
    expect(scene.client.text).toBe("one|three");
    expect(errors).toEqual([expect.objectContaining({ code: "plugin_failed", message: expect.stringMatching(message) as string })]); // prettier-ignore
    expect(await scene.client.newSession()).toBe("session-2");
  });

  it("handles updates that waited in a session that it hands over", async () => {
    await using scene = open(
      { on: { "session/new": { steps: [{ say: "early" }], after: [{ say: "one" }] } }, prompts: [[{ say: "two" }]] },
      {
        agentNotifications: {
          "session/update": async (update) => (await settle(1), withText(update, `<${textOf(update)}>`)),
        },
        fromClient: {
          "session/new": async (request) => {
            const held = await request.startSession();
            await settle();
            held.proxyRemaining();
          },
        },
      },
    );
    await prompt(scene);
    expect(scene.client.text).toBe("<early>|<one>|<two>");
    expect(scene.client.messages[0]).toMatchObject({ result: { sessionId: "session-1" } });
  });

  it("delays only the session whose handler is slow", async () => {
    const go = deferred();
    const handler: NotificationHandler = async ({ params }) => {
      if ((params as { sessionId: string }).sessionId === "session-1") await go.promise;
    };
    await using scene = open({ otherwise: [{ say: "hi" }] }, { agentNotifications: { "session/update": handler } });
    const [slow, quick] = [await scene.client.newSession(), await scene.client.newSession()];
    const waiting = scene.client.prompt(slow);
    expect(await scene.client.answerTo(scene.client.prompt(quick))).toMatchObject({ result: {} });
    expect(scene.client.answersTo(waiting)).toEqual([]);
    go.resolve();
    await scene.client.answerTo(waiting);
    expect(scene.client.text).toBe("hi|hi");
  });
});

it("does not take a method for a handler that every object inherits", async () => {
  await using scene = direct({}, { fromClient: {}, fromAgent: {}, clientNotifications: {} });
  await scene.client.newSession();
  scene.client.ask("toString", { n: 1 });
  expect(await scene.agent.receivedMethod("toString")).toEqual({ n: 1 });
});
