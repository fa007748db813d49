import { describe, expect, it } from "vitest";
import { collect, transcript } from "../testing/index.ts";
import { CLAUDE_ID, openNativeScene, type NativeScene } from "../rookery/test-native-scene.ts";

const ADOPT = { backend: "claude-code", nativeId: CLAUDE_ID } as const;
const text = (words: string) => ({
  send: { type: "assistant", message: { content: [{ type: "text", text: words }] }, parent_tool_use_id: null },
});
const RESULT = { send: { type: "result", subtype: "success", is_error: false } };
/** The steps after this one run only if the program was told to continue its last turn. */
const ONLY_IF_RESUMED = { needs: "CLAUDE_CODE_RESUME_INTERRUPTED_TURN" };

/** Opens a session whose last turn was cut off after its tool call. */
async function openInterrupted(scene: NativeScene, steps: readonly object[]) {
  await scene.script(steps);
  await scene.keepClaudeSession((whole) => {
    const lines = whole.split("\n");
    return lines.slice(0, lines.findLastIndex((line) => line.includes('"tool_result"')) + 1).join("\n");
  });
  return scene.rookery.openSession({ adopt: ADOPT });
}

describe("session.resume", () => {
  it("continues the last turn in the program's own session, without a prompt", async () => {
    await using scene = await openNativeScene();
    const lifecycle = { send: { type: "command_lifecycle", command_uuid: "own", state: "started" } };
    const init = { send: { type: "system", subtype: "init", session_id: CLAUDE_ID } };
    const steps = [ONLY_IF_RESUMED, lifecycle, init, { wait: "initialize" }, text("Continued."), RESULT];
    await using session = await openInterrupted(scene, steps);
    expect(session.state.lastOutcome).toMatchObject({ status: "failed", code: "interrupted" });
    const events = await collect(session.resume());
    expect(transcript(events)).toEqual(["started ", "says Continued.", "ended done"]);
    expect(events.find(({ type }) => type === "turn.started")).toMatchObject({ input: [] });
    const heard = await scene.heard();
    expect(heard.filter(({ type }) => type === "started").map(({ args }) => args)).toEqual([
      expect.arrayContaining([`--resume=${CLAUDE_ID}`]),
      expect.arrayContaining([`--resume=${CLAUDE_ID}`]),
    ]);
    expect(heard.filter(({ type }) => type === "user")).toEqual([]);
    expect(() => session.resume()).toThrow(/has no unfinished turn/);
  });

  it("fails the turn if the program has nothing to continue, and the next prompt works", async () => {
    await using scene = await openNativeScene();
    await using session = await openInterrupted(scene, [{ wait: "user" }, text("Fine."), RESULT]);
    const events = await collect(session.resume());
    expect(transcript(events)).toContain("ended failed backend_unsupported");
    expect(transcript(await collect(session.prompt("Then do this")))).toContain("says Fine.");
  });

  it("is refused after a turn that is done, and by an agent that cannot do it", async () => {
    await using scene = await openNativeScene();
    await scene.keepClaudeSession();
    await using session = await scene.rookery.openSession({ adopt: ADOPT });
    expect(() => session.resume()).toThrow(expect.objectContaining({ code: "input_invalid" }));
    await using other = await scene.rookery.openSession({ agent: "echo", permissions: "all" });
    await other.prompt("fail").outcome;
    expect(other.state.lastOutcome).toMatchObject({ status: "failed" });
    expect(() => other.resume()).toThrow(expect.objectContaining({ code: "backend_unsupported" }));
    expect(() => session.resume({ turnId: 5 } as never)).toThrow(expect.objectContaining({ code: "input_invalid" }));
  });
});
