import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventBody, EventOf, EventType, SessionEvent, TurnContext } from "../../domain/index.ts";
import { createSession, reopenSession, type PrepareAgent, type Session } from "../../session/index.ts";
import { deferred, DisposeStack, processesMarked, systemClock } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { builtEnvironment } from "../../testing/environment.ts";
import { collect, temporaryFolder, transcript, type TemporaryFolder } from "../../testing/index.ts";
import { TurnRecorder, type ProgramTurn } from "../program/index.ts";
import { commandBackend, type CommandOptions } from "./index.ts";
import { createCommandProgram } from "./command-program.ts";

const program = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PLAIN = program("test-plain-agent.sh");
const JSON_LINES = [process.execPath, program("test-json-agent.mjs")];
const PATHS = { sessionPath: "session.ids.0", textPath: "part.text" };

let folder: TemporaryFolder;
let count = 0;
const marker = () => `command-${process.pid}-${count}`;
beforeEach(async () => {
  folder = await temporaryFolder();
  count += 1;
});
afterEach(() => folder[Symbol.asyncDispose]());

interface Options extends Partial<CommandOptions> {
  readonly model?: string;
}

async function openScene(command: readonly string[], { model, ...options }: Options = {}) {
  const owned = new DisposeStack();
  const store = owned.use(openMemoryStore());
  const cwd = folder.path;
  const env = builtEnvironment({ home: folder.path });
  const prepare: PrepareAgent = (state) =>
    Promise.resolve({
      settings: { agent: "it", backend: "command", model, cwd, permissions: "ask" },
      connect: () =>
        commandBackend({ env, ...options }).open({
          sessionId: state.id,
          agent: { name: "it", backend: "command", model, permissions: "ask", command, prompts: ["Be brief."] },
          cwd,
          nativeId: state.nativeId,
          forkOf: state.forkOf,
          marker: marker(),
        }),
    });
  const means = { store, clock: systemClock, owner: `${process.pid}.0.command`, attended: true };
  const session = owned.use(await createSession(means, {}, prepare));
  return {
    session,
    ask: (text: string, of: Session = session) => collect(of.prompt(text)),
    reopen: async () => {
      await session[Symbol.asyncDispose]();
      return owned.use(await reopenSession(means, session.id, {}, prepare));
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function all<T extends EventType>(events: readonly SessionEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}
const printed = (events: readonly SessionEvent[]) =>
  all(events, "output.text")
    .flatMap(({ text, from }) => (from === undefined ? [text] : []))
    .join("");
const asked = (events: readonly SessionEvent[]) =>
  all(events, "agent.raw")
    .map(({ data }) => (data as { asked?: string[] }).asked)
    .findLast((value) => value !== undefined);

describe("a program that prints plain text", () => {
  it.each([
    ["as an argument", [PLAIN, "{prompt}"]],
    ["on stdin", [PLAIN]],
  ])("receives the prompt %s, and its output is logged line by line", async (_, command) => {
    await using scene = await openScene(command);
    const events = await scene.ask("say {model}");
    expect(printed(events)).toBe('Hello.\n\n  indented {"a": 1}\nasked: Be brief.\n\nsay {model}\n');
    expect(transcript(events).at(-1)).toBe("ended done");
    expect(all(events, "process.exited")).toMatchObject([{ exitCode: 0 }]);
  });

  it.each([
    ["as an argument", [PLAIN, "{prompt}"]],
    ["on stdin", [PLAIN]],
  ])("runs on a terminal if configured, with the prompt %s", async (_, command) => {
    await using scene = await openScene(command, { pty: true });
    const events = await scene.ask(`say ${"it ".repeat(5_000)}`);
    expect(printed(events)).toContain("Hello from a terminal\n\n  indented");
    expect(printed(events)).toContain(`say ${"it ".repeat(4_999)}it`);
    expect(transcript(events).at(-1)).toBe("ended done");
  });

  it("receives the conversation in each turn, because it keeps no session", async () => {
    await using scene = await openScene([PLAIN]);
    await scene.ask("first");
    const events = await scene.ask("second");
    expect(all(events, "agent.connected")).toMatchObject([{ how: "handed_over" }]);
    expect(printed(events)).toContain("User: first\n\nAgent: Hello.\n\n  indented");
    expect(printed(events)).toMatch(/The user now says:\n\nsecond\n$/);
  });

  it("fails the turn with its exit code and last output", async () => {
    await using scene = await openScene([PLAIN]);
    const [end] = all(await scene.ask("fail"), "turn.ended");
    expect(end?.outcome).toEqual({
      status: "failed",
      code: "agent_exited",
      message: "it exited with code 7: the disk is full",
    });
  });

  it.each([false, true])("ends when it is interrupted (on a terminal: %s)", async (pty) => {
    await using scene = await openScene([PLAIN], { pty });
    const turn = scene.session.prompt("wait");
    for await (const event of turn) if (event.type === "output.text") await scene.session.cancel();
    expect(await turn.outcome).toEqual({ status: "cancelled" });
    expect(processesMarked(marker())).toEqual([]);
  });
});

describe("a program that prints JSON", () => {
  const resumeCommand = [...JSON_LINES, "--resume", "{session}"];

  it("logs its records and their text as messages", async () => {
    await using scene = await openScene([...JSON_LINES, "--model", "{model}", "{prompt}"], { ...PATHS, model: "m-1" });
    const events = await scene.ask("hello");
    expect(transcript(events).filter((line) => /^(says|ended)/.test(line))).toEqual(["says Hello.", "ended done"]);
    expect(all(events, "agent.raw")[0]?.data).toMatchObject({ type: "init", model: "m-1" });
    expect(scene.session.state.nativeId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is parsed between noise", async () => {
    await using scene = await openScene(JSON_LINES, PATHS);
    const events = await scene.ask("noise");
    expect(transcript(events).filter((line) => /^says/.test(line))).toEqual(["says Hello."]);
    expect(printed(events)).toBe("50%\nwords\n");
  });

  it("resumes its own session in the next turn and after a reopen", async () => {
    await using scene = await openScene(JSON_LINES, { ...PATHS, resumeCommand });
    expect(asked(await scene.ask("one"))).toEqual(["Be brief.", "", "one"]);
    expect(asked(await scene.ask("two"))).toEqual(["Be brief.", "", "one", "two"]);
    const again = await scene.reopen();
    const events = await scene.ask("three", again);
    expect(asked(events)).toEqual(["Be brief.", "", "one", "two", "three"]);
    expect(all(events, "agent.connected")).toMatchObject([{ how: "resumed" }]);
  });

  it("receives the conversation if it lost its session", async () => {
    await using scene = await openScene(JSON_LINES, {
      ...PATHS,
      resumeCommand: [...resumeCommand.slice(0, -1), "gone"],
    });
    await scene.ask("one");
    const events = await scene.ask("two");
    expect(all(events, "notice").map(({ code }) => code)).toEqual(["native_session_lost"]);
    expect(all(events, "agent.connected").map(({ how }) => how)).toContain("handed_over");
    expect(asked(events)?.join("\n")).toContain("User: one\n\nAgent: Hello.");
    expect(transcript(events).at(-1)).toBe("ended done");
  });

  it("accepts a session id from Rookery", async () => {
    await using scene = await openScene(["sh", "-c", 'echo "$0"', "{session}"], {
      resumeCommand: ["echo", "on {session}"],
    });
    const first = printed(await scene.ask("one")).trim();
    expect(scene.session.state.nativeId).toBe(first);
    expect(printed(await scene.ask("two"))).toBe(`on ${first}\n`);
  });
});

it("does not stall if the program does not read its input", async () => {
  await using scene = await openScene(["sh", "-c", "echo done"]);
  const events = await scene.ask("x".repeat(500_000));
  expect(transcript(events).at(-1)).toBe("ended done");
});

it("records all output of a program that prints a lot", async () => {
  await using scene = await openScene(["sh", "-c", "seq 1 20000"]);
  const events = await scene.ask("count");
  expect(printed(events)).toBe(Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(""));
});

describe("the live program on its own", () => {
  const start = (script = "exec sleep 60", command = ["sh", "-c", script]) =>
    createCommandProgram(
      {
        context: {
          sessionId: "s",
          agent: { name: "it", backend: "command", model: undefined, permissions: "ask", prompts: [], command },
          cwd: folder.path,
          nativeId: undefined,
          marker: marker(),
        },
        env: builtEnvironment({ home: folder.path }),
        native: undefined,
        permissions: "ask",
        servers: [],
        turn: () => undefined,
        signal: new AbortController().signal,
      },
      { command, resumeCommand: undefined, pty: false, sessionPath: undefined, textPath: undefined },
    );
  const events: EventBody[] = [];
  let readied = 0;
  const turnOf = (more: Partial<ProgramTurn> = {}): ProgramTurn => ({
    context: {} as TurnContext,
    signal: new AbortController().signal,
    prompt: [{ type: "text", text: "hi" }],
    recorder: new TurnRecorder({
      log: { record: (...bodies: EventBody[]) => void events.push(...bodies) },
    }),
    ask: () => Promise.reject(new Error("nobody asks")),
    ready: () => {
      readied += 1;
      return Promise.resolve();
    },
    started: () => Promise.resolve(),
    connected: () => undefined,
    permit: () => Promise.reject(new Error("nobody asks")),
    findOfferedTool: () => undefined,
    isKnownCall: () => false,
    ...more,
  });
  beforeEach(() => {
    events.length = 0;
    readied = 0;
  });

  it("leaves no process if recording it fails", async () => {
    const broken = new Error("the log is broken");
    await expect(start().run(turnOf({ started: () => Promise.reject(broken) }))).rejects.toBe(broken);
    expect(processesMarked(marker())).toEqual([]);
  });

  it("leaves no process if it is closed while being recorded", async () => {
    const [begun, recorded] = [deferred(), deferred()];
    const live = start();
    const started = () => {
      begun.resolve();
      return recorded.promise;
    };
    const running = live.run(turnOf({ started }));
    await begun.promise;
    await live[Symbol.asyncDispose]();
    expect(processesMarked(marker())).toEqual([]);
    recorded.resolve();
    expect(await running).toMatchObject({ status: "failed" });
  });

  it.each([
    ["empty lines", "yes '' | head -n 2000"],
    ["stderr", "for i in $(seq 20); do head -c 65536 /dev/zero | tr '\\0' x >&2; done"],
  ])("applies backpressure to %s", async (_, script) => {
    await start(script).run(turnOf());
    expect(events.length).toBeGreaterThan(0);
    expect(readied).toBeGreaterThan(0);
  });
});

it("reports a missing program and a missing model", async () => {
  await expect(openScene(["no-such-program"])).rejects.toMatchObject({ code: "agent_unavailable" });
  await expect(openScene(["cat", "{model}"])).rejects.toMatchObject({ code: "config_invalid" });
});

it.each([
  ["a NUL character", "a\\u0000b"],
  ["three million characters", "x".repeat(3_000_000)],
])("does not resume a session whose id is %s, and the next prompt works", async (_, id) => {
  const line = `{"session":"${id}","text":"hi"}`;
  const print = "process.stdin.resume(); process.stdout.write(require('node:fs').readFileSync('line', 'utf8') + '\\n')";
  writeFileSync(join(folder.path, "line"), line);
  const command = [process.execPath, "-e", print];
  const paths = { sessionPath: "session", textPath: "text", resumeCommand: [...command, "{session}"] };
  await using scene = await openScene(command, paths);
  for (const prompt of ["one", "two"]) {
    expect(await scene.session.prompt(prompt).outcome).toMatchObject({ status: "done" });
  }
});
