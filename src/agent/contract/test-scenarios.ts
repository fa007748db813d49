/** What a turn may come to, whatever the wire: a script, what is done meanwhile, and the one transcript that is expected. */
import { expect } from "vitest";
import { call, calls, fault, say, type Script } from "../../testing/index.ts";
import type { Scene, SceneOptions, WireName } from "./test-scene.ts";

export interface Scenario extends Omit<SceneOptions, "wire" | "script"> {
  readonly name: string;
  readonly script?: Script;
  /** Where the wires have other ways to say the same. */
  readonly scriptOn?: (wire: WireName) => Script;
  /** Left out: it is asked to go, and waited for. */
  readonly play?: (scene: Scene) => Promise<unknown>;
  readonly lines: readonly string[];
  /** That the model gets. */
  readonly requests: number;
  readonly also?: (scene: Scene) => Promise<void> | void;
}

const go = (scene: Scene) => scene.session.prompt("Go").outcome;

/** Events up to and with the first piece of text, on each wire. */
const FIRST_TEXT: Record<WireName, number> = { anthropic: 4, openai: 5, google: 1, "openai-compatible": 2 };

const stallsAfterText =
  (wire: WireName): Script =>
  (_, index) =>
    index === 0 ? fault("stall", { text: ["Hello", " there"], afterEvents: FIRST_TEXT[wire] }) : say("Never.");

async function cancelledAt(scene: Scene, type: Parameters<Scene["seen"]>[0]): Promise<void> {
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
    name: "text, in pieces",
    script: [say(["O", "k", "."])],
    lines: ["started Go", ...DONE],
    requests: 1,
    also: async (scene) => {
      const told = (await scene.events()).flatMap((event) => (event.type === "message.delta" ? [event.text] : []));
      expect(told.join("")).toBe("Ok.");
    },
  },
  {
    name: "thoughts before an answer",
    script: [say("Ok.", { thinking: ["Hm", "m."] })],
    lines: ["started Go", ...DONE],
    requests: 1,
    also: async (scene) => {
      const thoughts = (await scene.events()).flatMap((event) => (event.type === "thought.delta" ? [event.text] : []));
      expect(thoughts.join("")).toBe("Hmm.");
    },
  },
  {
    name: "one tool",
    script: [call("look", { of: "A" }, { text: "I look." }), say("Ok.")],
    lines: ["started Go", "says I look.", ...LOOK, ...DONE],
    requests: 2,
    also: ({ model }) => expect(model.requests[1]?.toolResults).toMatchObject([{ content: "saw A" }]),
  },
  {
    name: "several tools beside one another, with their results in the order asked",
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
    also: ({ model }) =>
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
    also: ({ model }) =>
      expect(model.requests[1]?.toolResults[0]?.content).toEqual(expect.stringContaining("A cannot be done")),
  },
  {
    name: "arguments that do not fit",
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
    name: "a tool that there is not",
    script: [call("fly", { of: "A" }), say("Ok.")],
    lines: ["started Go", "tool fly", "tool failed", ...DONE],
    requests: 2,
    also: ({ model }) => expect(model.requests[1]?.toolResults[0]?.content).toEqual(expect.stringContaining("fly")),
  },
  {
    name: "a permission that is denied",
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
    also: ({ model }) =>
      expect(model.requests[1]?.toolResults[0]?.content).toEqual(expect.stringContaining("leave it")),
  },
  {
    name: "a rate that is kept, as long as the provider says",
    script: [fault(429, { retryAfter: 1 }), say("Ok.")],
    lines: ["started Go", "notice provider_retry", ...DONE],
    requests: 2,
    also: async (scene) => {
      const [notice] = (await scene.events()).filter(({ type }) => type === "notice");
      expect(notice).toMatchObject({ message: expect.stringMatching(/\(1 of 3\) in 1\.0 s$/) as string });
    },
  },
  {
    name: "a failure of the provider that passes",
    script: [fault(500), fault(503), say("Ok.")],
    lines: ["started Go", "notice provider_retry", "notice provider_retry", ...DONE],
    requests: 3,
  },
  {
    name: "a failure that does not pass",
    script: () => fault(500),
    lines: ["started Go", ...Array<string>(3).fill("notice provider_retry"), "ended failed provider_failed"],
    requests: 4,
  },
  ...FAILURES.map((kind): Scenario => ({
    name: `a stream that breaks (${kind})`,
    script: [fault(kind, { text: ["a", "b", "c"] }), say("Ok.")],
    lines: ["started Go", "notice provider_retry", ...DONE],
    requests: 2,
  })),
  {
    name: "a key that is refused",
    script: [fault(401)],
    lines: ["started Go", "ended failed provider_auth"],
    requests: 1,
  },
  {
    name: "a request that is refused",
    script: [fault(400)],
    lines: ["started Go", "ended failed provider_refused"],
    requests: 1,
  },
  {
    name: "an account that is used up until a time",
    scriptOn: (wire) =>
      wire === "google" // says how long, and not until when
        ? [fault(429, { retryAfter: 3_600 })]
        : [fault(429, { why: "quota", resetsAt: new Date(Date.now() + 3_600_000) })],
    play: (scene) => cancelledAt(scene, "turn.parked"),
    lines: ["started Go", "limited", "parked", "ended cancelled"],
    requests: 1,
  },
  {
    name: "an account that is used up, and nobody knows until when",
    scriptOn: (wire) =>
      wire === "anthropic" // has no such status: it refuses
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
    also: ({ model }) => expect(model.requests[2]?.lastUserText).toEqual(expect.stringContaining("Short.")),
  },
  {
    name: "a conversation that is too long twice",
    script: ({ lastUserText }) =>
      lastUserText.includes("Write the summary now.") ? say("Short.") : fault(400, { why: "overflow" }),
    lines: ["started Go", "compacted", "ended failed context_overflow"],
    requests: 3,
  },
  {
    name: "a conversation that is nearly full",
    contextSize: 1_000,
    script: (request, index) =>
      index === 0 ? call("look", { of: "A" }, { usage: { input: 880, output: 20 } }) : summarizes(request, index),
    lines: ["started Go", ...LOOK, "compacted", ...DONE],
    requests: 3,
  },
  {
    name: "being cancelled in the middle of a text",
    scriptOn: stallsAfterText,
    play: (scene) => cancelledAt(scene, "message.delta"),
    lines: ["started Go", "says Hello", "ended cancelled"],
    requests: 1,
  },
  {
    name: "being cancelled in a tool",
    script: [call("wait", { of: "A" })],
    play: (scene) => cancelledAt(scene, "tool.started"),
    lines: ["started Go", "tool wait A", "tool cancelled", "ended cancelled"],
    requests: 1,
  },
  {
    name: "being cancelled before another try",
    retry: { tries: 3, firstMs: 60_000 },
    script: [fault(500)],
    play: (scene) => cancelledAt(scene, "notice"),
    lines: ["started Go", "notice provider_retry", "ended cancelled"],
    requests: 1,
  },
  {
    name: "being cancelled while a person is asked",
    script: [call("change", { of: "A" })],
    play: (scene) => cancelledAt(scene, "permission.requested"),
    lines: ["started Go", "asks r1 change A", "answered r1 cancelled once by policy", "ended cancelled"],
    requests: 1,
  },
  {
    name: "being told something meanwhile",
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
    also: ({ model }) => expect(model.requests[1]?.lastUserText).toBe("Hurry"),
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
    also: ({ model }) => expect(JSON.stringify(model.requests[0]?.body)).toContain(PNG.toString("base64")),
  },
  {
    name: "an answer that is cut off",
    script: [say("So far", { stopReason: "max_tokens" })],
    lines: ["started Go", "says So far", "ended failed reply_truncated"],
    requests: 1,
  },
  {
    name: "an answer that is refused",
    script: [say("I", { stopReason: "refusal" })],
    lines: ["started Go", "says I", "ended failed reply_refused"],
    requests: 1,
  },
  {
    name: "an answer with nothing in it",
    script: [say("")],
    lines: ["started Go", "notice reply_empty", "ended done"],
    requests: 1,
  },
  {
    name: "what was said before, in the next turn",
    script: [call("look", { of: "A" }, { thinking: "Hm." }), say("Seen."), say("Ok.")],
    play: async (scene) => {
      await go(scene);
      await scene.session.prompt("And now?").outcome;
    },
    lines: ["started Go", ...LOOK, "says Seen.", "ended done", "started And now?", ...DONE],
    requests: 3,
    also: ({ model }) => {
      const said = model.requests[2]?.messages.flatMap(({ role, text, toolCalls, toolResults }) => {
        const [asked, came] = [toolCalls.map(({ input }) => input), toolResults.map(({ content }) => content)];
        return text === "" && asked.length + came.length === 0 ? [] : [[role, text, asked, came]]; // a thought by itself
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
