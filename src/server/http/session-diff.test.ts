import { writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newId, type EventDraft, type FileDiff, type TaskDiff } from "../../domain/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp();
});
afterEach(() => scene[Symbol.asyncDispose]());

const AT = "2026-01-01T00:00:00.000Z";

async function writeLog(events: readonly EventDraft[], cwd = "/repo"): Promise<string> {
  const sessionId = newId("ses");
  const opened: EventDraft = { type: "session.opened", at: AT, agent: "a", backend: "api", cwd, permissions: "ask" };
  await scene.store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [opened, ...events] });
  return sessionId;
}

let calls = 0;
function toolCall(turnId: string, kind: "edit" | "execute", diffs: readonly FileDiff[] = [], outcome = "ok") {
  const turn = { at: AT, agent: "a", turnId };
  const toolId = `call_${(calls += 1)}`;
  return [
    { ...turn, type: "tool.started", toolId, name: kind, title: kind, kind, input: {} },
    { ...turn, type: "tool.ended", toolId, outcome, text: "", diffs: [...diffs] },
  ] as EventDraft[];
}

async function getDiff(id: string, query = ""): Promise<TaskDiff & { commands: number }> {
  return (await scene.get(`/v1/sessions/${id}/diff${query}`)).json as unknown as TaskDiff & { commands: number };
}

it("returns the changes of a session and of one turn", async () => {
  const id = await writeLog([
    ...toolCall("t1", "edit", [{ path: "/repo/a.txt", before: "1\n", after: "2\n" }]),
    ...toolCall("t1", "edit", [{ path: "new.txt", before: null, after: "x\n" }]),
    ...toolCall("t2", "edit", [{ path: "a.txt", before: "2\n", after: "3\n" }]),
    ...toolCall("t2", "execute"),
    ...toolCall("t2", "edit", [{ path: "/etc/hosts", before: "a\n", after: "b\n" }], "denied"),
  ]);
  expect(await getDiff(id)).toMatchObject({
    base: id,
    files: [
      { path: "a.txt", change: "modified", additions: 1, deletions: 1 },
      { path: "new.txt", change: "added", additions: 1, deletions: 0 },
    ],
    additions: 2,
    deletions: 1,
    commands: 1,
    truncated: false,
  });
  const { files, patch, commands } = await getDiff(id, "?turn=t2&patch=true");
  expect(files.map(({ path }) => path)).toEqual(["a.txt"]);
  expect(patch).toContain("-2\n+3\n");
  expect(commands).toBe(1);
  expect(await getDiff(id, "?turn=t1")).not.toHaveProperty("patch");
});

it("returns a patch that git applies", async () => {
  const before = Array.from({ length: 50 }, (_, at) => `line ${at}\n`).join("");
  const after = before.replace("line 3\n", "three\n").replace("line 40\n", "");
  const id = await writeLog(
    [
      ...toolCall("t", "edit", [{ path: "a.txt", before, after }]),
      ...toolCall("t", "edit", [{ path: "sub/b.txt", before: null, after: "no line break" }]),
    ],
    scene.cwd,
  );
  const { patch = "" } = await getDiff(id, "?patch=true");
  await writeFile(join(scene.cwd, "a.txt"), before);
  execFileSync("git", ["apply", "-"], { cwd: scene.cwd, input: patch });
  const shown = execFileSync("cat", ["a.txt", "sub/b.txt"], { cwd: scene.cwd, encoding: "utf8" });
  expect(shown).toBe(`${after}no line break`);
});

it("includes the changes of sub-agents, and says if one was deleted", async () => {
  const child = await writeLog(toolCall("c", "edit", [{ path: "child.txt", before: null, after: "1\n" }]));
  const turn = { at: AT, agent: "a", turnId: "t" };
  const run = (childSessionId: string): EventDraft[] => [
    { ...turn, type: "subagent.started", childSessionId, title: "work" },
    { ...turn, type: "subagent.ended", childSessionId, outcome: { status: "done" } },
  ];
  const id = await writeLog([
    ...run(child),
    ...toolCall("t", "edit", [{ path: "child.txt", before: "1\n", after: "2\n" }]),
  ]);
  expect(await getDiff(id)).toMatchObject({ files: [{ path: "child.txt", additions: 1 }], truncated: false });
  expect(await getDiff(await writeLog(run("ses_gone")))).toMatchObject({ files: [], truncated: true });
});

it("bounds a large patch, and marks changes that are not whole", async () => {
  const text = "x".repeat(99_999);
  const large = Array.from({ length: 60 }, (_, at): FileDiff => ({ path: `f${at}`, before: null, after: text }));
  const id = await writeLog(toolCall("t", "edit", large));
  const { files, patch = "", truncated } = await getDiff(id, "?patch=true");
  expect(files).toHaveLength(60);
  expect(patch.length).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(truncated).toBe(true);
  expect(patch.endsWith("\n")).toBe(true);
  const cut = await writeLog(toolCall("t", "edit", [{ path: "f", before: null, after: null, truncated: true }]));
  expect(await getDiff(cut)).toMatchObject({ truncated: true, files: [{ path: "f" }] });
});

it("refuses unknown sessions, unknown turns and bad parameters", async () => {
  const id = await writeLog([]);
  expect(await scene.get("/v1/sessions/ses_none/diff")).toMatchObject({ json: { code: "session_not_found" } });
  expect(await scene.get(`/v1/sessions/${id}/diff?turn=none`)).toMatchObject({
    status: 400,
    json: { at: "query.turn" },
  });
  for (const query of ["patch=1", `turn=${"t".repeat(1_000)}`, "turn=", "turn=a&turn=b", "path=../x"])
    expect(await scene.get(`/v1/sessions/${id}/diff?${query}`)).toMatchObject({ status: 400 });
  expect(await scene.get("/v1/sessions/..%2f/diff")).toMatchObject({ status: 400 });
});
