import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { allowing, openScene, textIn, updatesOf } from "./test-scene.ts";

it("a prompt is a turn of the log: text, a permission, a diff and the end", async () => {
  await using scene = await openScene([
    call("write", { path: "a.txt", content: "one\n" }, { text: ["I will ", "write."] }),
    say("Done."),
  ]);
  const asked: unknown[] = [];
  const editor = await scene.editor({
    serve: {
      permission: (request) => {
        asked.push(request);
        return allowing("allow");
      },
    },
  });
  const session = await editor.client.session(scene.cwd).create();
  const turn = session.prompt("Write a.txt");
  expect(await turn.finish()).toMatchObject({ stopReason: "end_turn" });

  expect(existsSync(join(scene.cwd, "a.txt"))).toBe(true);
  expect(asked).toMatchObject([
    {
      sessionId: session.id,
      toolCall: { kind: "edit", rawInput: { path: "a.txt", content: "one\n" } },
      options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
    },
  ]);
  const updates = updatesOf(editor, session.id);
  expect(textIn(updates, "agent_message_chunk")).toBe("I will write.Done.");
  expect(textIn(updates, "user_message_chunk")).toBe("");
  expect(updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"))).toMatchObject([
    { sessionUpdate: "tool_call", status: "pending", kind: "edit" },
    { sessionUpdate: "tool_call_update", status: "in_progress" },
    { sessionUpdate: "tool_call_update", status: "completed", content: [{ type: "diff", newText: "one\n" }, {}] },
  ]);
});

it("cancelling ends the prompt as cancelled, with a permission pending", async () => {
  await using scene = await openScene([call("bash", { command: "touch ran" }), say("again")]);
  let asked: () => void;
  const waiting = new Promise<void>((resolve) => (asked = resolve));
  const editor = await scene.editor({
    serve: {
      permission: (_, { signal }) => {
        asked();
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("gone"))));
      },
    },
  });
  const session = await editor.client.session(scene.cwd).create();
  const turn = session.prompt("Run it");
  await waiting;
  await turn.cancel();
  expect(await turn.finish()).toMatchObject({ stopReason: "cancelled" });
  expect(existsSync(join(scene.cwd, "ran"))).toBe(false);
  expect(await session.prompt("Again").readText()).toBe("again");
});
