import { expect, it } from "vitest";
import type { EventOf, EventType, SessionEvent } from "../../domain/index.ts";
import { isAlive } from "../../stdx/index.ts";
import { collect, transcript } from "../../testing/index.ts";
import { openScene } from "./test-scene.ts";

function all<Type extends EventType>(events: readonly SessionEvent[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

const hows = (events: readonly SessionEvent[]) => all(events, "agent.connected").map(({ how }) => how);

it("runs a turn without asking if all is allowed, and records its tool calls", async () => {
  await using scene = await openScene('model = "gemini-2.5-flash"\n');
  const session = await scene.open({ permissions: "all" });
  const events = await collect(session.prompt("write"));
  expect(transcript(events)).toEqual([
    "opened it",
    "started write",
    `tool write_file ${scene.cwd}/a.txt`,
    "tool ok",
    "tool make",
    "tool failed",
    "prints a word beside the records\n",
    "says I heard 1",
    "ended done",
  ]);
  const path = `${scene.cwd}/a.txt`;
  expect(all(events, "tool.started")).toMatchObject([{ kind: "edit", locations: [{ path }] }, { kind: "execute" }]);
  expect(all(events, "tool.ended")[0]?.diffs).toEqual([{ path, before: null, after: "one\n" }]);
  expect(all(events, "usage.reported")).toMatchObject([{ inputTokens: 200, outputTokens: 45, cacheReadTokens: 30 }]);
  expect(scene.started()).toEqual([["-o", "stream-json", "-m", "gemini-2.5-flash", "--approval-mode", "yolo"]]);
});

it("resumes the program's own session in each turn and after a reopen", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  await collect(session.prompt("one"));
  const events = await collect(session.prompt("two"));
  expect(transcript(events)).toContain("says I heard 2");
  expect(all(events, "process.exited")).toMatchObject([{ exitCode: 0 }]);
  await session[Symbol.asyncDispose]();
  const again = await collect((await scene.open({ id: session.id })).prompt("three"));
  expect(transcript(again)).toContain("says I heard 3");
  expect(hows(again)).toEqual(["resumed"]);
});

it("hands the conversation over if the program lost its session", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  await collect(session.prompt("remember the blue door"));
  await session[Symbol.asyncDispose]();
  await scene.forget();
  const events = await collect((await scene.open({ id: session.id })).prompt("two"));
  expect(all(events, "notice")).toMatchObject([{ code: "native_session_lost" }]);
  expect(hows(events)).toContain("handed_over");
  expect(transcript(events).at(-1)).toBe("ended done");
});

it("switches the drive mode when the policy changes, and back, without losing the conversation", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  await collect(session.prompt("remember the blue door"));
  await session.change({ permissions: "ask" });
  const asking = await collect(session.prompt("two"));
  expect(transcript(asking)).toContain("says over ACP");
  expect(hows(asking)).toEqual(["handed_over"]);
  expect(scene.startedOverAcp()).toEqual([expect.stringContaining("--acp --approval-mode default")]);
  expect(JSON.stringify(await scene.heardOverAcp())).toContain("User: remember the blue door");
  expect(JSON.stringify(await scene.heardOverAcp())).not.toContain("session/load");
  await session.change({ permissions: "all" });
  const back = await collect(session.prompt("three"));
  expect(hows(back)).toEqual(["resumed"]);
  expect(scene.started().at(-1)?.slice(0, 2)).toEqual(["--resume", session.state.nativeId]);
});

it("stops a turn by ending its process, and the next turn works", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  const turn = session.prompt("wait");
  const events: SessionEvent[] = [];
  let since = 0;
  for await (const event of turn) {
    events.push(event);
    if (event.type !== "message.delta") continue;
    since = Date.now();
    void session.cancel();
  }
  expect(await turn.outcome).toEqual({ status: "cancelled" });
  expect(Date.now() - since).toBeLessThan(9_000); // before the deadline for programs that do not stop
  const [process] = all(events, "process.started");
  expect(process !== undefined && isAlive(process)).toBe(false);
  expect(transcript(await collect(session.prompt("two")))).toContain("says I heard 2");
});

it.each([
  ["needs a login", "no login", "provider_auth", /log in.*GEMINI_API_KEY/s],
  ["is killed", "die", "agent_exited", /SIGKILL/],
])("reports that the program %s", async (_, prompt, code, words) => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  const outcome = await session.prompt(prompt).outcome;
  expect(outcome).toMatchObject({ status: "failed", code, message: expect.stringMatching(words) as string });
  expect(JSON.stringify(outcome)).not.toContain("Basic terminal");
});

it.each([
  ["reported its result", "stay", { status: "done" }],
  ["closed its output", "fall silent", { status: "failed", code: "agent_exited" }],
])(
  "does not wait forever for a program that %s but keeps running",
  async (_, prompt, outcome) => {
    await using scene = await openScene();
    const session = await scene.open({ permissions: "all" });
    const turn = session.prompt(prompt);
    const events = await collect(turn);
    expect(await turn.outcome).toMatchObject(outcome);
    const [process] = all(events, "process.started");
    expect(process !== undefined && isAlive(process)).toBe(false);
  },
  15_000,
);

it("repeats the instructions if the program exited before it had a session", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  await session.prompt("remember the blue door, no login").outcome;
  const events = await collect(session.prompt("two"));
  expect(hows(events)).toContain("handed_over");
  expect(await scene.said()).toContain("User: remember the blue door");
});

it("parks the turn until the quota resets", async () => {
  await using scene = await openScene();
  const session = await scene.open({ permissions: "all" });
  const turn = session.prompt("limit");
  for await (const event of turn) {
    if (event.type !== "turn.parked") continue;
    const hours = (Date.parse(event.until) - Date.parse(event.at)) / 3_600_000;
    expect(hours).toBeCloseTo(3.2, 1);
    void session.cancel();
  }
  expect(await turn.outcome).toEqual({ status: "cancelled" });
});
