import { describe, expect, it } from "vitest";
import { RookeryError, SessionEvent, type InputPart } from "../domain/index.ts";
import type { Rookery } from "../rookery.ts";
import { openMemoryStore } from "../store/index.ts";
import { call, say } from "../testing/index.ts";
import type { Session } from "./session.ts";
import { openScene } from "./test-scene.ts";

/** Callers in plain JavaScript can pass anything. */
type Anything = never;
const any = (value: unknown) => value as Anything;

type Call = (scene: { session: Session; rookery: Rookery }) => unknown;

const CALLS: readonly [string, Call][] = [
  ["prompt with a number", ({ session }) => session.prompt(any(5))],
  ["prompt with null", ({ session }) => session.prompt(any(null))],
  ["prompt with an unknown part", ({ session }) => session.prompt(any([{ type: "sound", text: "x" }]))],
  ["prompt with a part without its text", ({ session }) => session.prompt(any([{ type: "text" }]))],
  [
    "prompt with a part with one field too many",
    ({ session }) => session.prompt(any([{ type: "text", text: "a", b: 1 }])),
  ],
  ["prompt with a null part", ({ session }) => session.prompt(any([null]))],
  ["prompt with a numeric turn id", ({ session }) => session.prompt("a", any({ turnId: 5 }))],
  ["queue with an unknown part", ({ session }) => session.queue(any([{ type: "image", url: "x" }]))],
  ["queue with an unknown delivery", ({ session }) => session.queue("a", any({ deliver: "later" }))],
  ["tell with an unknown part", ({ rookery, session }) => rookery.tell(session.id, any([{ type: "nothing" }]))],
  ["tell with an unknown delivery", ({ rookery, session }) => rookery.tell(session.id, "a", any({ deliver: 1 }))],
  ["tell a numeric session", ({ rookery }) => rookery.tell(any(5), "a")],
  [
    "replaceConversation with an unknown role",
    ({ session }) => session.replaceConversation(any([{ role: "system", text: "x" }])),
  ],
  [
    "replaceConversation with a numeric text",
    ({ session }) => session.replaceConversation(any([{ role: "user", text: 5 }])),
  ],
  ["replaceConversation with a text", ({ session }) => session.replaceConversation(any("hello"))],
  ["replaceConversation with nulls", ({ session }) => session.replaceConversation(any([null]))],
  ["change to an unknown policy", ({ session }) => session.change(any({ permissions: "everything" }))],
  ["change to a numeric model", ({ session }) => session.change(any({ model: 5 }))],
  ["change an unknown setting", ({ session }) => session.change(any({ modle: "a/b" }))],
  ["change to null", ({ session }) => session.change(any(null))],
  ["answer with an unknown decision", ({ session }) => session.answer("r1", any({ decision: "maybe" }))],
  ["answer with an unknown scope", ({ session }) => session.answer("r1", any({ decision: "allow", scope: "forever" }))],
  ["answer with an unknown action", ({ session }) => session.answer("r1", any({ action: "perhaps" }))],
  ["answer with nothing", ({ session }) => session.answer("r1", any(undefined))],
  ["answer to a numeric request", ({ rookery, session }) => rookery.answer(session.id, any(1), { decision: "allow" })],
  ["chooseTool with a number", ({ session }) => session.chooseTool(any(5), true)],
  ["chooseTool with a text for a switch", ({ session }) => session.chooseTool("bash", any("no"))],
  ["setOverlay without sources", ({ session }) => session.setOverlay(any({ tools: [] }))],
  ["setOverlay with a source that lists nothing", ({ session }) => session.setOverlay(any({ sources: [{}] }))],
  ["endSession with a numeric reason", ({ rookery, session }) => rookery.endSession(session.id, any(5))],
  ["forkSession with a numeric title", ({ rookery, session }) => rookery.forkSession(session.id, any({ title: 5 }))],
  ["deleteSession of a number", ({ rookery }) => rookery.deleteSession(any(5))],
  ["openSession with an unknown policy", ({ rookery }) => rookery.openSession(any({ permissions: "askk" }))],
  ["openSession with a numeric title", ({ rookery }) => rookery.openSession(any({ title: 5 }))],
  ["openSession with a numeric id", ({ rookery }) => rookery.openSession(any({ id: 5 }))],
  ["openSession with a budget of a text", ({ rookery }) => rookery.openSession(any({ budget: { usd: "1" } }))],
  ["openSession with a numeric environment", ({ rookery }) => rookery.openSession(any({ env: { A: 1 } }))],
  ["openSession with servers without a name", ({ rookery }) => rookery.openSession(any({ mcpServers: [{}] }))],
  ["openSession with null", ({ rookery }) => rookery.openSession(any(null))],
  ["startTask with a numeric prompt", ({ rookery }) => rookery.startTask(any({ prompt: 5 }))],
  ["startTask with a numeric title", ({ rookery }) => rookery.startTask(any({ prompt: "a", title: 5 }))],
  ["startTask with an unknown policy", ({ rookery }) => rookery.startTask(any({ prompt: "a", permissions: "some" }))],
  ["startTask with needs of numbers", ({ rookery }) => rookery.startTask(any({ prompt: "a", needs: [1] }))],
  ["tasks.list with an unknown status", ({ rookery }) => rookery.tasks.list(any({ status: ["lost"] }))],
];

describe("an invalid argument from plain JavaScript", () => {
  it("is rejected with input_invalid, is not recorded, and does not affect later prompts", async () => {
    await using s = await openScene(() => say("fine"));
    const before = await s.events(s.session.id);
    const outcomes = [];
    for (const [name, attempt] of CALLS) outcomes.push([name, await codeOf(() => attempt(s))]);
    expect(outcomes).toEqual(CALLS.map(([name]) => [name, "input_invalid"]));
    expect(await s.events(s.session.id)).toEqual(before);
    expect(await s.rookery.sessions()).toHaveLength(1);
    expect(await s.session.prompt("next").outcome).toMatchObject({ status: "done" });
    for (const event of await s.events(s.session.id)) SessionEvent.parse(event);
  });

  it("is rejected with the field's name and its valid values", async () => {
    await using s = await openScene([]);
    await expect(s.session.change(any({ permissions: "everything" }))).rejects.toThrow(/permissions.*"ask"/);
  });
});

describe("an attachment without stored bytes", () => {
  const missing: InputPart[] = [
    { type: "text", text: "What is this?" },
    { type: "blob", hash: `sha256:${"0".repeat(64)}`, mediaType: "image/png", name: "cat.png" },
  ];

  it("is rejected with attachment_missing before a turn starts, and the next prompt works", async () => {
    await using s = await openScene([say("fine")]);
    const turn = s.session.prompt(missing);
    await expect(turn.outcome).rejects.toMatchObject({ code: "attachment_missing" });
    const read = async () => {
      for await (const event of s.session.prompt(missing)) expect(event.type).not.toBe("turn.started");
    };
    await expect(read()).rejects.toMatchObject({ code: "attachment_missing" });
    await expect(s.session.queue(missing)).rejects.toMatchObject({ code: "attachment_missing" });
    await expect(s.rookery.tell(s.session.id, missing)).rejects.toMatchObject({ code: "attachment_missing" });
    expect(s.model.requests).toEqual([]);
    expect(await s.session.prompt("next").outcome).toMatchObject({ status: "done" });
    expect(await s.lines()).toEqual(["opened anthropic", "started next", "says fine", "ended done"]);
  });
});

describe("an attachment", () => {
  const hashes = [
    "x",
    "sha256:",
    `sha256:${"z".repeat(64)}`,
    "../../log.db",
    "\ud800",
    "a\u0000b",
    "0".repeat(1_000_000),
  ];

  it.each(hashes)("with a malformed hash is rejected with attachment_missing: %.40s", async (hash) => {
    await using s = await openScene([say("fine")]);
    const input: InputPart[] = [{ type: "blob", hash, mediaType: "image/png" }];
    const expected = { code: expect.stringMatching(/^(attachment_missing|input_invalid)$/) as string };
    await expect((async () => s.session.prompt(input).outcome)()).rejects.toMatchObject(expected);
    await expect(s.session.queue(input)).rejects.toMatchObject(expected);
    await expect(s.rookery.tell(s.session.id, input)).rejects.toMatchObject(expected);
    expect(await s.session.prompt("next").outcome).toMatchObject({ status: "done" });
    expect(s.model.requests).toHaveLength(1);
  });

  it("that is lost after its input was queued fails that turn but not the next one", async () => {
    const store = openMemoryStore();
    let isLost = false;
    const losing = new Proxy(store, {
      get(target, name) {
        if (name === "getBlob" && isLost) return () => Promise.resolve(undefined);
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    await using s = await openScene(() => call("bash", { command: "true" }), { permissions: "ask" }, losing);
    const { hash } = await store.putBlob(new Uint8Array(8));
    const turn = s.session.prompt("wait");
    for await (const event of turn) {
      if (event.type !== "permission.requested") continue;
      await s.session.queue([{ type: "blob", hash, mediaType: "image/png", name: "cat.png" }]);
      isLost = true;
      void s.session.cancel();
    }
    await s.session.idle();
    expect((await s.lines()).at(-1)).toBe("ended failed attachment_missing");
    expect(s.session.state.turns).toBe(2);
  });
});

async function codeOf(attempt: () => unknown): Promise<string> {
  try {
    const result = await attempt();
    return `no error: ${typeof result}`;
  } catch (error) {
    return error instanceof RookeryError ? error.code : String(error);
  }
}
