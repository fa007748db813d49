import { expect, it } from "vitest";
import type { McpServerSpec, SessionEvent } from "../../domain/index.ts";
import { NO_CAPABILITIES } from "../../domain/index.ts";
import { createSession, reopenSession, type PrepareAgent } from "../../session/index.ts";
import { deferred, DisposeStack, systemClock } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { collect, transcript } from "../../testing/index.ts";
import {
  programBackend,
  promptText,
  SessionLost,
  type LiveProgram,
  type ProgramTurn,
  type ProgramStart,
} from "./index.ts";

type Play = (turn: ProgramTurn, live: FakeProgram) => ReturnType<LiveProgram["run"]>;

/** An in-process program that does in each turn what the test tells it. */
class FakeProgram implements LiveProgram {
  readonly how: LiveProgram["how"];
  readonly nativeId: string;
  readonly #play: Play;
  hasEnded = false;

  constructor(start: ProgramStart, count: number, play: Play) {
    this.how = start.native === undefined ? "new" : start.native.as === "fork" ? "forked" : "resumed";
    this.nativeId = start.native?.as === "resume" ? start.native.id : `native-${count}`;
    this.#play = play;
  }

  run(turn: ProgramTurn): ReturnType<LiveProgram["run"]> {
    return this.#play(turn, this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.hasEnded = true;
    return Promise.resolve();
  }
}

const SETTINGS = { agent: "a", backend: "command", model: undefined, cwd: "/", permissions: "ask" } as const;
const AGENT = { name: "a", backend: "command", model: undefined, permissions: "ask", command: undefined } as const;
const DONE = { status: "done" } as const;

interface SceneOptions {
  readonly refuse?: (start: ProgramStart) => Error | undefined;
  /** Delays the start until it resolves. */
  readonly until?: (start: ProgramStart, count: number) => Promise<void>;
  readonly mcpServers?: readonly McpServerSpec[];
}

async function openScene(play: Play, { refuse = () => undefined, until, mcpServers }: SceneOptions = {}) {
  const owned = new DisposeStack();
  const store = owned.use(openMemoryStore());
  const starts: ProgramStart[] = [];
  const said: string[] = [];
  const programs: FakeProgram[] = [];
  const program = {
    kind: "command" as const,
    capabilities: NO_CAPABILITIES,
    start: async (start: ProgramStart) => {
      starts.push(start);
      const refusal = refuse(start);
      if (refusal !== undefined) throw refusal;
      await until?.(start, starts.length);
      const heard: Play = (turn, live) => {
        said.push(promptText(turn.prompt));
        return play(turn, live);
      };
      const live = new FakeProgram(start, starts.length, heard);
      programs.push(live);
      return live;
    },
  };
  const prepare: PrepareAgent = (state) =>
    Promise.resolve({
      settings: SETTINGS,
      connect: () =>
        programBackend(program, { env: {} }).open({
          sessionId: state.id,
          agent: { ...AGENT, prompts: ["Be brief."] },
          cwd: "/",
          nativeId: state.nativeId,
          forkOf: state.forkOf,
          mcpServers,
          marker: "none",
        }),
    });
  const options = { store, clock: systemClock, owner: `${process.pid}.0.program`, attended: true };
  const session = owned.use(await createSession(options, {}, prepare));
  return {
    session,
    starts,
    said,
    programs,
    reopen: async () => owned.use(await reopenSession(options, session.id, {}, prepare)),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const says: Play = (turn) => {
  turn.recorder.addMessageText("yes");
  return Promise.resolve(DONE);
};
const how = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "agent.connected" ? [event.how] : []));

it("sends instructions once, and resumes the program's session after an exit", async () => {
  await using scene = await openScene((turn, live) => {
    live.hasEnded = turn.prompt.some((part) => part.type === "text" && part.text === "die");
    return says(turn, live);
  });
  expect(how(await collect(scene.session.prompt("one")))).toEqual(["new"]);
  expect(how(await collect(scene.session.prompt("die")))).toEqual([]);
  expect(how(await collect(scene.session.prompt("three")))).toEqual(["resumed"]);
  expect(scene.said).toEqual(["Be brief.\n\none", "die", "three"]);
  expect(scene.starts.map(({ native }) => native)).toEqual([undefined, { id: "native-1", as: "resume" }]);
});

it("hands the conversation over if the program lost its session, and records a notice", async () => {
  const forgets = ({ native }: ProgramStart) =>
    native === undefined ? undefined : new SessionLost("it knows no native-1");
  await using scene = await openScene(says, { refuse: forgets });
  await collect(scene.session.prompt("one"));
  await scene.session[Symbol.asyncDispose]();
  const again = await scene.reopen();
  const events = await collect(again.prompt("two"));
  expect(transcript(events)).toContain("notice native_session_lost");
  expect(how(events)).toEqual(["handed_over"]);
  expect(scene.said.at(-1)).toMatch(/Be brief\.[^]*User: one[^]*Agent: yes[^]*two$/);
});

it("hands the conversation over if the session turns out to be lost during the turn", async () => {
  let forgets = false;
  await using scene = await openScene((turn, live) => {
    if (live.how === "resumed" && forgets) return Promise.reject(new SessionLost("gone"));
    return says(turn, live);
  });
  await collect(scene.session.prompt("one"));
  await scene.session[Symbol.asyncDispose]();
  forgets = true;
  const events = await collect((await scene.reopen()).prompt("two"));
  expect(transcript(events).filter((line) => line.startsWith("ended") || line.startsWith("notice"))).toEqual([
    "notice native_session_lost",
    "ended done",
  ]);
});

it("ends a program that ignores a cancel, and starts another for the next turn", async () => {
  const dead: LiveProgram[] = [];
  await using scene = await openScene((turn, live) => {
    if (dead.length > 0) return says(turn, live);
    dead.push(live);
    return new Promise(() => undefined);
  });
  const turn = scene.session.prompt("one");
  await expect.poll(() => dead.length).toBe(1);
  await scene.session.cancel();
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  expect(dead[0]?.hasEnded).toBe(true);
  expect(how(await collect(scene.session.prompt("two")))).toEqual(["resumed"]);
}, 20_000);

it("stops waiting for a starting program when its turn is cancelled, and ends it later", async () => {
  const come = deferred();
  const until = (_: ProgramStart, count: number) => (count === 2 ? come.promise : Promise.resolve());
  await using scene = await openScene(
    (turn, live) => {
      live.hasEnded = scene.said.length === 1;
      return says(turn, live);
    },
    { until },
  );
  await collect(scene.session.prompt("one"));
  const turn = scene.session.prompt("two");
  await expect.poll(() => scene.starts.length).toBe(2);
  await scene.session.cancel();
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  expect(scene.starts[1]?.signal.aborted).toBe(true);
  const next = collect(scene.session.prompt("three"));
  come.resolve();
  await next;
  expect(scene.said.at(-1)).toBe("three");
  expect(scene.programs.map(({ hasEnded }) => hasEnded)).toEqual([true, true, false]);
}, 8_000);

it("closes only after a starting program was ended", async () => {
  const come = deferred();
  const until = (_: ProgramStart, count: number) => (count === 2 ? come.promise : Promise.resolve());
  await using scene = await openScene(
    (turn, live) => {
      live.hasEnded = true;
      return says(turn, live);
    },
    { until },
  );
  await collect(scene.session.prompt("one"));
  scene.session.prompt("two");
  await expect.poll(() => scene.starts.length).toBe(2);
  const closed = scene.session[Symbol.asyncDispose]().then(() => scene.programs.map(({ hasEnded }) => hasEnded));
  await expect.poll(() => scene.starts[1]?.signal.aborted).toBe(true);
  come.resolve();
  expect(await closed).toEqual([true, true]);
}, 8_000);

it("sends instructions and the conversation in the next turn if the first was cancelled before its prompt", async () => {
  await using scene = await openScene((turn, live) =>
    turn.signal.aborted ? Promise.resolve({ status: "cancelled" }) : says(turn, live),
  );
  await collect(scene.session.prompt("one", { signal: AbortSignal.abort() }));
  const events = await collect(scene.session.prompt("two"));
  expect(scene.said.at(-1)).toMatch(/Be brief\.[^]*User: one[^]*two$/);
  expect(how(events)).toEqual(["handed_over"]);
});

it("records a handover even if the program reports its session id later", async () => {
  let name = "native-1";
  await using scene = await openScene(
    (turn, live) => {
      if (name !== live.nativeId) turn.connected({ nativeId: name });
      live.hasEnded = true;
      return says(turn, live);
    },
    { refuse: ({ native }) => (native === undefined ? undefined : new SessionLost("gone")) },
  );
  await collect(scene.session.prompt("one"));
  name = "late";
  expect(how(await collect(scene.session.prompt("two")))).toEqual(["handed_over", "handed_over"]);
});

it("serves an in-process server once across restarts of the program", async () => {
  const server = { type: "memory", name: "notes", open: () => Promise.reject(new Error("nobody comes")) } as const;
  await using scene = await openScene(
    (turn, live) => {
      live.hasEnded = true;
      return says(turn, live);
    },
    { mcpServers: [server] },
  );
  await collect(scene.session.prompt("one"));
  await collect(scene.session.prompt("two"));
  const [first, second] = scene.starts.map(({ servers }) => servers);
  expect(first).toMatchObject([{ type: "http", name: "notes" }]);
  expect(second).toEqual(first);
});

it("records a call when it asks for permission, records a denial once, and continues the turn", async () => {
  await using scene = await openScene(async (turn) => {
    const call = { id: "t1", name: "Bash", title: "rm x", kind: "execute", input: {} } as const;
    const decision = await turn.permit(call);
    turn.recorder.startTool(call);
    turn.recorder.endTool("t1", { outcome: "failed", text: "what the program says of it" });
    turn.recorder.addMessageText(decision.allowed ? "did it" : "did not");
    return DONE;
  });
  const turn = scene.session.prompt("one");
  await expect.poll(() => scene.session.state.requests.length).toBe(1);
  await scene.session.answer("r1", { decision: "deny" });
  expect(transcript(await collect(turn)).slice(2)).toEqual([
    "tool rm x",
    "asks r1 rm x",
    "answered r1 deny once by person",
    "tool denied",
    "says did not",
    "ended done",
  ]);
});
