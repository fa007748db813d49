import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  RookeryError,
  keyText,
  type AgentConnection,
  type EventBody,
  type JournalEntry,
  type JournalWrite,
  type PermissionDecision,
  type SessionEvent,
  type TurnContext,
} from "../domain/index.ts";
import { journalHost } from "../effects/index.ts";
import { openModel } from "../providers/index.ts";
import { processesMarked } from "../stdx/index.ts";
import {
  call,
  calls,
  fault,
  say,
  startModelServer,
  temporaryFolder,
  type ModelServer,
  type Script,
  type TemporaryFolder,
} from "../testing/index.ts";
import { AgentTools, type Plugin, type ToolFilter } from "../tools/index.ts";
import { createCodingTools, openBuiltInAgent } from "./index.ts";

const marker = `agent-${process.pid}`;
const storeFull = new RookeryError("store_full", "no space");

let folder: TemporaryFolder;
let events: SessionEvent[];
let journal: Map<string, JournalEntry>;
/** Called before an event is recorded. Throws if the log should fail from there on. */
let beforeWrite: (body: EventBody | undefined) => void;
beforeEach(async () => {
  folder = await temporaryFolder();
  events = [];
  journal = new Map();
  beforeWrite = () => undefined;
});
afterEach(() => folder[Symbol.asyncDispose]());

function openAgent(model: ModelServer, filter: ToolFilter = {}, plugins: readonly Plugin[] = []): AgentConnection {
  const tools = new AgentTools({ filter, plugins });
  tools.add(createCodingTools({ env: { PATH: process.env["PATH"] } }));
  return openBuiltInAgent({
    sessionId: "s",
    cwd: folder.path,
    model: openModel("anthropic/claude", { env: {}, baseUrl: model.url, apiKey: "fake" }),
    system: "",
    tools,
    price: undefined,
    marker,
    retry: { retries: 0, firstDelayMs: 1 },
  });
}

/** Creates a turn whose log and journal are in memory. An existing turn id continues that turn. */
function createTurn(turnId: string, text: string, more: Partial<TurnContext> = {}): TurnContext {
  const record = (bodies: readonly EventBody[], writes: readonly JournalWrite[] = []): void => {
    for (const body of [undefined, ...bodies]) beforeWrite(body);
    for (const body of bodies) {
      events.push({
        ...body,
        seq: events.length + 1,
        sessionId: "s",
        turnId,
        agent: "a",
        at: new Date().toISOString(),
      });
    }
    for (const write of writes) {
      if (write.op === "start") journal.set(keyText(write.key), { key: write.key, finished: false, value: undefined });
      if (write.op === "finish")
        journal.set(keyText(write.key), { key: write.key, finished: true, value: write.value });
    }
  };
  const commit = async (): Promise<void> => beforeWrite(undefined);
  if (!events.some((event) => event.turnId === turnId)) {
    record([{ type: "turn.started", input: [{ type: "text", text }] }]);
  }
  return {
    turnId,
    input: [{ type: "text", text }],
    signal: new AbortController().signal,
    log: { record: (...bodies) => record(bodies), ready: () => Promise.resolve(), commit },
    effects: journalHost([...journal.values()], { commit: async (bodies, writes) => record(bodies, writes) }),
    history: async function* () {
      yield* [...events];
    },
    permit: (): Promise<PermissionDecision> => Promise.resolve({ allowed: true }),
    ask: () => Promise.resolve({ action: "decline" as const }),
    blob: () => Promise.resolve(undefined),
    putBlob: () => Promise.resolve("sha256:none"),
    ...more,
  };
}

const eventsOfType = <Type extends SessionEvent["type"]>(type: Type) =>
  events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type);

describe("a log that fails while a command runs", () => {
  it("stops the command and rejects the turn, without unhandled errors", async () => {
    await using model = await startModelServer([call("bash", { command: "while :; do echo on; sleep 0.02; done" })]);
    let updates = 0;
    beforeWrite = (body) => {
      if (body?.type === "tool.updated") updates += 1;
      if (updates > 2) throw storeFull;
    };
    const turn = createTurn("t1", "go");
    await expect(openAgent(model).runTurn(turn)).rejects.toBe(storeFull);
    expect(processesMarked(marker)).toEqual([]);
  });
});

describe("an incomplete reply", () => {
  it.each([
    ["the token limit", say("So far", { stopReason: "max_tokens" }), "reply_truncated", "So far"],
    ["a refusal", say("I", { stopReason: "refusal" }), "reply_refused", "I"],
    ["a refusal without text", { stopReason: "refusal" } as const, "reply_refused", ""],
    [
      "the token limit, with a call",
      call("bash", { command: "touch ran" }, { text: "So", stopReason: "max_tokens" }),
      "reply_truncated",
      "So",
    ],
  ])("fails the turn because of %s, and keeps the partial text", async (_, reply, code, text) => {
    await using model = await startModelServer([reply, say("Gone on.")]);
    const agent = openAgent(model);
    const outcome = await agent.runTurn(createTurn("t1", "go"));
    expect(outcome).toMatchObject({ status: "failed", code });
    expect(eventsOfType("message.completed").map((message) => message.text)).toEqual([text]);
    expect(eventsOfType("tool.started")).toEqual([]);

    expect(await agent.runTurn(createTurn("t2", "go on"))).toMatchObject({ status: "done" });
    expect(model.problems).toEqual([]);
  });

  it.each([
    ["text", { text: ["a", "b", "c"] }],
    ["a call", call("bash", { command: "touch ran" }, { text: "So" })],
  ])("fails the turn if its stream ends within %s", async (_, reply) => {
    for (let afterEvents = 0; afterEvents < 8; afterEvents += 1) {
      await using model = await startModelServer([fault("eof", { ...reply, afterEvents })]);
      const outcome = await openAgent(model).runTurn(createTurn(`t${afterEvents}`, "go"));
      expect(outcome).toMatchObject({ status: "failed", code: "provider_failed" });
    }
    expect(eventsOfType("message.completed")).toEqual([]);
    expect(eventsOfType("tool.started")).toEqual([]);
  });
});

describe("a command whose process was killed", () => {
  const script: Script = ({ toolResults }) =>
    toolResults.length === 0 ? call("bash", { command: "echo ran >> count" }) : say("Looked.");

  /** Fails the log when the end of the command is recorded. */
  async function killed(model: ModelServer): Promise<void> {
    beforeWrite = (body) => {
      if (body?.type === "process.exited") throw storeFull;
    };
    await expect(openAgent(model).runTurn(createTurn("t1", "go"))).rejects.toBe(storeFull);
    beforeWrite = () => undefined;
  }

  it.each<[string, ToolFilter]>([
    ["as before", {}],
    ["without the tool", { deny: ["bash"] }],
  ])("has the outcome unknown after the session is reopened %s, and does not start again", async (_, tools) => {
    await using model = await startModelServer(script);
    await killed(model);
    expect(await openAgent(model, tools).runTurn(createTurn("t1", "go"))).toMatchObject({ status: "done" });
    expect(eventsOfType("tool.started").length).toBe(1);
    expect(eventsOfType("tool.ended").map(({ outcome }) => outcome)).toEqual(["unknown"]);
    expect(readFileSync(join(folder.path, "count"), "utf8")).toBe("ran\n");
  });
});

describe("a call that is answered without running", () => {
  const denied: PermissionDecision = { allowed: false, outcome: "denied", message: "no" };

  it.each([
    ["an unknown tool", call("fly", {}), "failed"],
    ["a denied write", call("write", { path: "a", content: "b" }), "denied"],
    ["a denied read", call("read", { path: "a" }), "denied"],
  ])("starts and ends once, wherever its process is killed: %s", async (_, reply, outcome) => {
    await using model = await startModelServer(({ toolResults }) => (toolResults.length === 0 ? reply : say("Ok.")));
    const permit = () => Promise.resolve(denied);
    for (let writes = 1, done = false; !done; writes += 1) {
      events = [];
      journal = new Map();
      let left = writes;
      beforeWrite = (body) => {
        if (body?.type !== "turn.started" && (left -= 1) < 0) throw storeFull;
      };
      const first = await openAgent(model)
        .runTurn(createTurn("t1", "go", { permit }))
        .catch((error: unknown) => error);
      done = first !== storeFull;
      beforeWrite = () => undefined;
      expect(await openAgent(model).runTurn(createTurn("t1", "go", { permit }))).toMatchObject({ status: "done" });
      expect(eventsOfType("tool.started").length).toBe(1);
      expect(eventsOfType("tool.ended").map((ended) => ended.outcome)).toEqual([outcome]);
    }
  });
});

it("does not restart a read that is denied after a crash", async () => {
  await using model = await startModelServer(({ toolResults }) =>
    toolResults.length === 0 ? call("read", { path: "a" }) : say("Ok."),
  );
  beforeWrite = (body) => {
    if (body?.type === "tool.ended") throw storeFull;
  };
  await expect(openAgent(model).runTurn(createTurn("t1", "go"))).rejects.toBe(storeFull);
  beforeWrite = () => undefined;
  const permit = () => Promise.resolve({ allowed: false, outcome: "denied", message: "no" } as const);
  expect(await openAgent(model).runTurn(createTurn("t1", "go", { permit }))).toMatchObject({ status: "done" });
  expect(eventsOfType("tool.started").length).toBe(1);
  expect(eventsOfType("tool.ended").map(({ outcome }) => outcome)).toEqual(["denied"]);
});

it("asks neither plugins nor a person again about a call that ended before a crash", async () => {
  await using model = await startModelServer(({ toolResults }) =>
    toolResults.length === 0 ? call("bash", { command: "touch ran" }) : say("Ok."),
  );
  beforeWrite = (body) => {
    if (body?.type === "message.completed" && eventsOfType("tool.ended").length > 0) throw storeFull;
  };
  const refusing: Plugin = { id: "p", version: "1", beforeCall: () => ({ refuse: "no" }) };
  await expect(openAgent(model, {}, [refusing]).runTurn(createTurn("t1", "go"))).rejects.toBe(storeFull);
  beforeWrite = () => undefined;
  const asked: string[] = [];
  const changed: Plugin = { id: "p", version: "1", beforeCall: () => void asked.push("plugin") };
  const permit = () => (asked.push("person"), Promise.resolve({ allowed: true } as const));
  expect(await openAgent(model, {}, [changed]).runTurn(createTurn("t1", "go", { permit }))).toMatchObject({
    status: "done",
  });
  expect(asked).toEqual([]);
  expect(eventsOfType("tool.ended")).toMatchObject([{ outcome: "denied", text: "no" }]);
});

it("neither stores nor sends a message that contains only whitespace", async () => {
  await using model = await startModelServer([
    fault("stall", { text: ["\n\n", " ", "x"], afterEvents: 5 }),
    say("Ok."),
  ]);
  const controller = new AbortController();
  const turn = createTurn("t1", "go", { signal: controller.signal });
  beforeWrite = (body) => {
    if (body?.type === "message.delta" && body.text === " ") controller.abort();
  };
  expect(await openAgent(model).runTurn(turn)).toEqual({ status: "cancelled" });
  expect(eventsOfType("message.completed")).toEqual([]);

  events.push({ ...events[0]!, type: "message.completed", messageId: "m", text: " \n" });
  await openAgent(model).runTurn(createTurn("t2", "again"));
  expect(model.requests.at(-1)?.messages.map(({ role }) => role)).not.toContain("assistant");
});

it("gives two calls with the same id their own results", async () => {
  await using model = await startModelServer([
    calls([
      { id: "same", name: "bash", input: { command: "echo A" } },
      { id: "same", name: "bash", input: { command: "echo B" } },
    ]),
    say("Ok."),
  ]);
  expect(await openAgent(model).runTurn(createTurn("t1", "go"))).toMatchObject({ status: "done" });
  expect(model.problems).toEqual([]);
  const [asked, answered] = model.requests.at(-1)!.messages.slice(1);
  const commands = new Map(asked!.toolCalls.map(({ id, input }) => [id, (input as { command: string }).command]));
  expect(answered!.toolResults.map(({ id, content }) => [commands.get(id), content])).toEqual([
    ["echo A", "A\n\n[exit code 0]"],
    ["echo B", "B\n\n[exit code 0]"],
  ]);
});
