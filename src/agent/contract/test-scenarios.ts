/** The scenarios of a turn on every wire: a script, the actions of the test, and the expected transcript. */
import { expect } from "vitest";
import { call, calls, fault, say, type Script } from "../../testing/index.ts";
import type { Scene, SceneOptions, WireName } from "./test-scene.ts";

export interface Scenario extends Omit<SceneOptions, "wire" | "script"> {
  readonly name: string;
  readonly script?: Script;
  /** Used instead of `script` if the wires need different scripts. */
  readonly scriptOn?: (wire: WireName) => Script;
  /** Default: sends a prompt and waits for the outcome. */
  readonly play?: (scene: Scene) => Promise<unknown>;
  readonly lines: readonly string[];
  /** Expected number of requests to the model. */
  readonly requests: number;
  readonly expectAlso?: (scene: Scene) => Promise<void> | void;
}

const go = (scene: Scene) => scene.session.prompt("Go").outcome;

/** Number of events up to and including the first text, on each wire. */
const FIRST_TEXT: Record<WireName, number> = { anthropic: 4, openai: 5, google: 1, "openai-compatible": 2 };

const stallsAfterText =
  (wire: WireName): Script =>
  (_, index) =>
    index === 0 ? fault("stall", { text: ["Hello", " there"], afterEvents: FIRST_TEXT[wire] }) : say("Never.");

async function cancelAt(scene: Scene, type: Parameters<Scene["seen"]>[0]): Promise<void> {
  const turn = scene.session.prompt("Go");
  await scene.seen(type);
  await scene.session.cancel();
  await turn.outcome;
}

const summarizes: Script = ({ lastUserText }) =>
  lastUserText.includes("Write the summary now.") ? say("Short.") : say("Ok.");

const LOOK = ["tool look A", "tool ok"];
const DONE = ["says Ok.", "ended done"];
const FAILURES = ["cut", "eof", "error", "reset", "garbage"] as const;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "streamed text",
    script: [say(["O", "k", "."])],
    lines: ["started Go", ...DONE],
    requests: 1,
    expectAlso: async (scene) => {
      const deltas = (await scene.events()).flatMap((event) => (event.type === "message.delta" ? [event.text] : []));
      expect(deltas.join("")).toBe("Ok.");
    },
  },
  {
    name: "thoughts before a reply",
    script: [say("Ok.", { thinking: ["Hm", "m."] })],
    lines: ["started Go", ...DONE],
    requests: 1,
    expectAlso: async (scene) => {
      const thoughts = (await scene.events()).flatMap((event) => (event.type === "thought.delta" ? [event.text] : []));
      expect(thoughts.join("")).toBe("Hmm.");
    },
  },
  {
    name: "one tool call",
    script: [call("look", { of: "A" }, { text: "I look." }), say("Ok.")],
    lines: ["started Go", "says I look.", ...LOOK, ...DONE],
    requests: 2,
    expectAlso: ({ model }) => expect(model.requests[1]?.toolResults).toMatchObject([{ content: "saw A" }]),
  },
  {
    name: "several concurrent tool calls with results in order",
    script: [
      calls([
        { name: "hold", input: { of: "A" } },
        { name: "look", input: { of: "B" } },
        { name: "look", input: { of: "C" } },
      ]),
      say("Ok."),
    ],
    play: async (scene) => {
      const turn = scene.session.prompt("Go");
      await scene.seen("tool.ended");
      scene.release();
      await turn.outcome;
    },
    lines: ["started Go", "tool hold A", "tool look B", "tool look C", "tool ok", "tool ok", "tool ok", ...DONE],
    requests: 2,
    expectAlso: ({ model }) =>
      expect(model.requests[1]?.toolResults).toMatchObject([
        { content: "held A" },
        { content: "saw B" },
        { content: "saw C" },
      ]),
  },
  {
    name: "a tool that fails",
    script: [call("fail", { of: "A" }), say("Ok.")],
    lines: ["started Go", "tool fail A", "tool failed", ...DONE],
    requests: 2,
    expectAlso: ({ model }) =>
      expect(model.requests[1]?.toolResults[0]?.content).toEqual(expect.stringContaining("A cannot be done")),
  },
  {
    name: "invalid arguments",
    script: [call("look", { of: 5 }), say("Ok.")],
    lines: ["started Go", "tool look 5", "tool failed", ...DONE],
    requests: 2,
  },
  {
    name: "arguments that are not JSON",
    script: [calls([{ name: "look", input: {}, written: '{"of": "A' }]), say("Ok.")],
    lines: ["started Go", "tool look undefined", "tool failed", ...DONE],
    requests: 2,
  },
  {
    name: "an unknown tool",
    script: [call("fly", { of: "A" }), say("Ok.")],
    lines: ["started Go", "tool fly", "tool failed", ...DONE],
    requests: 2,
    expectAlso: ({ model }) =>
      expect(model.requests[1]?.toolResults[0]?.content).toEqual(expect.stringContaining("fly")),
  },
  {
    name: "a denied permission",
    script: [call("change", { of: "A" }), say("Ok.")],
    play: async (scene) => {
      const turn = scene.session.prompt("Go");
      await scene.seen("permission.requested");
      await scene.session.answer("r1", { decision: "deny", message: "leave it" });
      await turn.outcome;
    },
    lines: [
      "started Go",
      "asks r1 change A",
      "answered r1 deny once by person",
      "tool change A",
      "tool denied",
      ...DONE,
    ],
    requests: 2,
    expectAlso: ({ model }) =>
      expect(model.requests[1]?.toolResults[0]?.content).toEqual(expect.stringContaining("leave it")),
  },
  {
    name: "a rate limit with a delay from the provider",
    script: [fault(429, { retryAfter: 1 }), say("Ok.")],
    lines: ["started Go", "notice provider_retry", ...DONE],
    requests: 2,
    expectAlso: async (scene) => {
      const [notice] = (await scene.events()).filter(({ type }) => type === "notice");
      expect(notice).toMatchObject({ message: expect.stringMatching(/\(1 of 3\) in 1\.0 s$/) as string });
    },
  },
  {
    name: "a transient provider failure",
    script: [fault(500), fault(503), say("Ok.")],
    lines: ["started Go", "notice provider_retry", "notice provider_retry", ...DONE],
    requests: 3,
  },
  {
    name: "a persistent provider failure",
    script: () => fault(500),
    lines: ["started Go", ...Array<string>(3).fill("notice provider_retry"), "ended failed provider_failed"],
    requests: 4,
  },
  ...FAILURES.map((kind): Scenario => ({
    name: `a broken stream (${kind})`,
    script: [fault(kind, { text: ["a", "b", "c"] }), say("Ok.")],
    lines: ["started Go", "notice provider_retry", ...DONE],
    requests: 2,
  })),
  {
    name: "a rejected API key",
    script: [fault(401)],
    lines: ["started Go", "ended failed provider_auth"],
    requests: 1,
  },
  {
    name: "a rejected request",
    script: [fault(400)],
    lines: ["started Go", "ended failed provider_refused"],
    requests: 1,
  },
  {
    name: "a usage limit with a known reset time",
    scriptOn: (wire) =>
      wire === "google" // reports a duration, not a time
        ? [fault(429, { retryAfter: 3_600 })]
        : [fault(429, { why: "quota", resetsAt: new Date(Date.now() + 3_600_000) })],
    play: (scene) => cancelAt(scene, "turn.parked"),
    lines: ["started Go", "limited", "parked", "ended cancelled"],
    requests: 1,
  },
  {
    name: "a usage limit without a reset time",
    timeLimits: { park: 0 }, // Google's daily quota has one: midnight in California, which may be near
    scriptOn: (wire) =>
      wire === "anthropic" // has no such status, and rejects the request
        ? [fault(400, { message: "Your credit balance is too low to access the Anthropic API." })]
        : [fault(429, { why: "quota" })],
    lines: ["started Go", "limited", "ended failed usage_limited"],
    requests: 1,
  },
  {
    name: "a conversation that is too long",
    script: (request, index) => (index === 0 ? fault(400, { why: "overflow" }) : summarizes(request, index)),
    lines: ["started Go", "compacted", ...DONE],
    requests: 3,
    expectAlso: ({ model }) => expect(model.requests[2]?.lastUserText).toEqual(expect.stringContaining("Short.")),
  },
  {
    name: "a conversation that is still too long after a summary",
    script: ({ lastUserText }) =>
      lastUserText.includes("Write the summary now.") ? say("Short.") : fault(400, { why: "overflow" }),
    lines: ["started Go", "compacted", "ended failed context_overflow"],
    requests: 3,
  },
  {
    name: "a nearly full context",
    contextSize: 1_000,
    script: (request, index) =>
      index === 0 ? call("look", { of: "A" }, { usage: { input: 880, output: 20 } }) : summarizes(request, index),
    lines: ["started Go", ...LOOK, "compacted", ...DONE],
    requests: 3,
  },
  {
    name: "cancellation while text streams",
    scriptOn: stallsAfterText,
    play: (scene) => cancelAt(scene, "message.delta"),
    lines: ["started Go", "says Hello", "ended cancelled"],
    requests: 1,
  },
  {
    name: "cancellation while a tool runs",
    script: [call("wait", { of: "A" })],
    play: (scene) => cancelAt(scene, "tool.started"),
    lines: ["started Go", "tool wait A", "tool cancelled", "ended cancelled"],
    requests: 1,
  },
  {
    name: "cancellation while waiting for a retry",
    retry: { retries: 3, firstDelayMs: 60_000 },
    script: [fault(500)],
    play: (scene) => cancelAt(scene, "notice"),
    lines: ["started Go", "notice provider_retry", "ended cancelled"],
    requests: 1,
  },
  {
    name: "cancellation while a permission is pending",
    script: [call("change", { of: "A" })],
    play: (scene) => cancelAt(scene, "permission.requested"),
    lines: ["started Go", "asks r1 change A", "answered r1 cancelled once by policy", "ended cancelled"],
    requests: 1,
  },
  {
    name: "steering input during a turn",
    script: [call("hold", { of: "A" }), say("Ok.")],
    play: async (scene) => {
      const turn = scene.session.prompt("Go");
      await scene.seen("tool.started");
      await scene.session.queue("Hurry", { deliver: "steer" });
      scene.release();
      await turn.outcome;
    },
    lines: ["started Go", "tool hold A", "queued Hurry", "tool ok", "steered Hurry", ...DONE],
    requests: 2,
    expectAlso: ({ model }) => expect(model.requests[1]?.lastUserText).toBe("Hurry"),
  },
  {
    name: "an image",
    script: [say("Ok.")],
    play: async (scene) => {
      const { hash } = await scene.store.putBlob(PNG);
      const parts = [
        { type: "text" as const, text: "Go" },
        { type: "blob" as const, hash, mediaType: "image/png", name: "a.png" },
      ];
      await scene.session.prompt(parts).outcome;
    },
    lines: ["started Go\n[a.png]", ...DONE],
    requests: 1,
    expectAlso: ({ model }) => expect(JSON.stringify(model.requests[0]?.body)).toContain(PNG.toString("base64")),
  },
  {
    name: "a truncated reply",
    script: [say("So far", { stopReason: "max_tokens" })],
    lines: ["started Go", "says So far", "ended failed reply_truncated"],
    requests: 1,
  },
  {
    name: "a refused reply",
    script: [say("I", { stopReason: "refusal" })],
    lines: ["started Go", "says I", "ended failed reply_refused"],
    requests: 1,
  },
  {
    name: "an empty reply",
    script: [say("")],
    lines: ["started Go", "notice reply_empty", "ended done"],
    requests: 1,
  },
  {
    name: "the earlier conversation in the next turn",
    script: [call("look", { of: "A" }, { thinking: "Hm." }), say("Seen."), say("Ok.")],
    play: async (scene) => {
      await go(scene);
      await scene.session.prompt("And now?").outcome;
    },
    lines: ["started Go", ...LOOK, "says Seen.", "ended done", "started And now?", ...DONE],
    requests: 3,
    expectAlso: ({ model }) => {
      const said = model.requests[2]?.messages.flatMap(({ role, text, toolCalls, toolResults }) => {
        const [asked, came] = [toolCalls.map(({ input }) => input), toolResults.map(({ content }) => content)];
        return text === "" && asked.length + came.length === 0 ? [] : [[role, text, asked, came]]; // a separate thought
      });
      expect(said).toEqual([
        ["user", "Go", [], []],
        ["assistant", "", [{ of: "A" }], []],
        ["user", "", [], ["saw A"]],
        ["assistant", "Seen.", [], []],
        ["user", "And now?", [], []],
      ]);
    },
  },
];

export async function playScenario({ play = go }: Scenario, scene: Scene): Promise<void> {
  await play(scene);
}

export function scriptOf({ script = [], scriptOn }: Scenario, wire: WireName): Script {
  return scriptOn?.(wire) ?? script;
}
