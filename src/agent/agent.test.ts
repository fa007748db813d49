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
import { codingTools, openBuiltIn } from "./index.ts";

const marker = `agent-${process.pid}`;
const full = new RookeryError("store_full", "no space");

let folder: TemporaryFolder;
let events: SessionEvent[];
let journal: Map<string, JournalEntry>;
/** Asked before anything is recorded; throws where the log is to be broken from there on. */
let writing: (body: EventBody | undefined) => void;
beforeEach(async () => {
  folder = await temporaryFolder();
  events = [];
  journal = new Map();
  writing = () => undefined;
});
afterEach(() => folder[Symbol.asyncDispose]());

function agentOn(model: ModelServer, filter: ToolFilter = {}, plugins: readonly Plugin[] = []): AgentConnection {
  const tools = new AgentTools({ filter, plugins });
  tools.add(codingTools({ env: { PATH: process.env["PATH"] } }));
  return openBuiltIn({
    sessionId: "s",
    cwd: folder.path,
    model: openModel("anthropic/claude", { env: {}, baseUrl: model.url, apiKey: "fake" }),
    system: "",
    tools,
    price: undefined,
    marker,
    retry: { tries: 0, firstMs: 1 },
  });
}

/** A turn whose log and journal are lists; a turn that has its id already is gone on with. */
function turnOf(turnId: string, text: string, more: Partial<TurnContext> = {}): TurnContext {
  const record = (bodies: readonly EventBody[], writes: readonly JournalWrite[] = []): void => {
    for (const body of [undefined, ...bodies]) writing(body);
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
  const commit = async (): Promise<void> => writing(undefined);
  if (!events.some((event) => event.turnId === turnId)) {
    record([{ type: "turn.started", input: [{ type: "text", text }] }]);
  }
  return {
    turnId,
    input: [{ type: "text", text }],
    signal: new AbortController().signal,
    log: { record: (...bodies) => record(bodies), ready: () => Promise.resolve(), commit },
    effects: journalHost([...journal.values()], async (bodies, writes) => record(bodies, writes)),
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

const of = <Type extends SessionEvent["type"]>(type: Type) =>
  events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type);

describe("a log that breaks while a command runs", () => {
  it("stops the command and fails the turn, and throws nowhere else", async () => {
    await using model = await startModelServer([call("bash", { command: "while :; do echo on; sleep 0.02; done" })]);
    let updates = 0;
    writing = (body) => {
      if (body?.type === "tool.updated") updates += 1;
      if (updates > 2) throw full;
    };
    const turn = turnOf("t1", "go");
    await expect(agentOn(model).runTurn(turn)).rejects.toBe(full);
    expect(processesMarked(marker)).toEqual([]);
  });
});

describe("a reply that is not whole", () => {
  it.each([
    ["the limit of tokens", say("So far", { stopReason: "max_tokens" }), "reply_truncated", "So far"],
    ["a refusal", say("I", { stopReason: "refusal" }), "reply_refused", "I"],
    ["a refusal without a word", { stopReason: "refusal" } as const, "reply_refused", ""],
    [
      "the limit of tokens, with a call",
      call("bash", { command: "touch ran" }, { text: "So", stopReason: "max_tokens" }),
      "reply_truncated",
      "So",
    ],
  ])("fails the turn because of %s, and keeps what came", async (_, reply, code, text) => {
    await using model = await startModelServer([reply, say("Gone on.")]);
    const agent = agentOn(model);
    const outcome = await agent.runTurn(turnOf("t1", "go"));
    expect(outcome).toMatchObject({ status: "failed", code });
    expect(of("message.completed").map((message) => message.text)).toEqual([text]);
    expect(of("tool.started")).toEqual([]);

    expect(await agent.runTurn(turnOf("t2", "go on"))).toMatchObject({ status: "done" });
    expect(model.problems).toEqual([]);
  });

  it.each([
    ["a text", { text: ["a", "b", "c"] }],
    ["a call", call("bash", { command: "touch ran" }, { text: "So" })],
  ])("fails the turn where its stream just ends in %s", async (_, reply) => {
    for (let afterEvents = 0; afterEvents < 8; afterEvents += 1) {
      await using model = await startModelServer([fault("eof", { ...reply, afterEvents })]);
      const outcome = await agentOn(model).runTurn(turnOf(`t${afterEvents}`, "go"));
      expect(outcome).toMatchObject({ status: "failed", code: "provider_failed" });
    }
    expect(of("message.completed")).toEqual([]);
    expect(of("tool.started")).toEqual([]);
  });
});

describe("a command whose process was killed", () => {
  const script: Script = ({ toolResults }) =>
    toolResults.length === 0 ? call("bash", { command: "echo ran >> count" }) : say("Looked.");

  /** Dies when the command is about to be called ended. */
  async function killed(model: ModelServer): Promise<void> {
    writing = (body) => {
      if (body?.type === "process.exited") throw full;
    };
    await expect(agentOn(model).runTurn(turnOf("t1", "go"))).rejects.toBe(full);
    writing = () => undefined;
  }

  it.each<[string, ToolFilter]>([
    ["as before", {}],
    ["without the tool", { deny: ["bash"] }],
  ])("counts as unknown when the session is opened %s, and does not start again", async (_, tools) => {
    await using model = await startModelServer(script);
    await killed(model);
    expect(await agentOn(model, tools).runTurn(turnOf("t1", "go"))).toMatchObject({ status: "done" });
    expect(of("tool.started").length).toBe(1);
    expect(of("tool.ended").map(({ outcome }) => outcome)).toEqual(["unknown"]);
    expect(readFileSync(join(folder.path, "count"), "utf8")).toBe("ran\n");
  });
});

describe("a call that is answered without being run", () => {
  const denied: PermissionDecision = { allowed: false, outcome: "denied", message: "no" };

  it.each([
    ["a tool that there is not", call("fly", {}), "failed"],
    ["a change that is denied", call("write", { path: "a", content: "b" }), "denied"],
    ["a look that is denied", call("read", { path: "a" }), "denied"],
  ])("starts and ends once, wherever its process dies: %s", async (_, reply, outcome) => {
    await using model = await startModelServer(({ toolResults }) => (toolResults.length === 0 ? reply : say("Ok.")));
    const permit = () => Promise.resolve(denied);
    for (let writes = 1, done = false; !done; writes += 1) {
      events = [];
      journal = new Map();
      let left = writes;
      writing = (body) => {
        if (body?.type !== "turn.started" && (left -= 1) < 0) throw full;
      };
      const first = await agentOn(model)
        .runTurn(turnOf("t1", "go", { permit }))
        .catch((error: unknown) => error);
      done = first !== full;
      writing = () => undefined;
      expect(await agentOn(model).runTurn(turnOf("t1", "go", { permit }))).toMatchObject({ status: "done" });
      expect(of("tool.started").length).toBe(1);
      expect(of("tool.ended").map((ended) => ended.outcome)).toEqual([outcome]);
    }
  });
});

it("does not start a look again that is denied after a crash", async () => {
  await using model = await startModelServer(({ toolResults }) =>
    toolResults.length === 0 ? call("read", { path: "a" }) : say("Ok."),
  );
  writing = (body) => {
    if (body?.type === "tool.ended") throw full;
  };
  await expect(agentOn(model).runTurn(turnOf("t1", "go"))).rejects.toBe(full);
  writing = () => undefined;
  const permit = () => Promise.resolve({ allowed: false, outcome: "denied", message: "no" } as const);
  expect(await agentOn(model).runTurn(turnOf("t1", "go", { permit }))).toMatchObject({ status: "done" });
  expect(of("tool.started").length).toBe(1);
  expect(of("tool.ended").map(({ outcome }) => outcome)).toEqual(["denied"]);
});

it("asks neither plugins nor a person again for what came of a call before a crash", async () => {
  await using model = await startModelServer(({ toolResults }) =>
    toolResults.length === 0 ? call("bash", { command: "touch ran" }) : say("Ok."),
  );
  writing = (body) => {
    if (body?.type === "message.completed" && of("tool.ended").length > 0) throw full;
  };
  const refusing: Plugin = { id: "p", version: "1", beforeCall: () => ({ refuse: "no" }) };
  await expect(agentOn(model, {}, [refusing]).runTurn(turnOf("t1", "go"))).rejects.toBe(full);
  writing = () => undefined;
  const asked: string[] = [];
  const changed: Plugin = { id: "p", version: "1", beforeCall: () => void asked.push("plugin") };
  const permit = () => (asked.push("person"), Promise.resolve({ allowed: true } as const));
  expect(await agentOn(model, {}, [changed]).runTurn(turnOf("t1", "go", { permit }))).toMatchObject({ status: "done" });
  expect(asked).toEqual([]);
  expect(of("tool.ended")).toMatchObject([{ outcome: "denied", text: "no" }]);
});

it("does not keep a message of nothing but white space, and does not give one back", async () => {
  await using model = await startModelServer([
    fault("stall", { text: ["\n\n", " ", "x"], afterEvents: 5 }),
    say("Ok."),
  ]);
  const controller = new AbortController();
  const turn = turnOf("t1", "go", { signal: controller.signal });
  writing = (body) => {
    if (body?.type === "message.delta" && body.text === " ") controller.abort();
  };
  expect(await agentOn(model).runTurn(turn)).toEqual({ status: "cancelled" });
  expect(of("message.completed")).toEqual([]);

  events.push({ ...events[0]!, type: "message.completed", messageId: "m", text: " \n" });
  await agentOn(model).runTurn(turnOf("t2", "again"));
  expect(model.requests.at(-1)?.messages.map(({ role }) => role)).not.toContain("assistant");
});

it("gives each of two calls with one id its own result", async () => {
  await using model = await startModelServer([
    calls([
      { id: "same", name: "bash", input: { command: "echo A" } },
      { id: "same", name: "bash", input: { command: "echo B" } },
    ]),
    say("Ok."),
  ]);
  expect(await agentOn(model).runTurn(turnOf("t1", "go"))).toMatchObject({ status: "done" });
  expect(model.problems).toEqual([]);
  const [asked, answered] = model.requests.at(-1)!.messages.slice(1);
  const commands = new Map(asked!.toolCalls.map(({ id, input }) => [id, (input as { command: string }).command]));
  expect(answered!.toolResults.map(({ id, content }) => [commands.get(id), content])).toEqual([
    ["echo A", "A\n\n[exit code 0]"],
    ["echo B", "B\n\n[exit code 0]"],
  ]);
});
