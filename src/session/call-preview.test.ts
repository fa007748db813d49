/** Tests the check of a call before a person is asked about it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../domain/index.ts";
import { call, collect, say } from "../testing/index.ts";
import { openScene } from "./test-scene.ts";

const WRONG = call("edit", { path: "missing.txt", old_text: "a", new_text: "b" });
const READ = call("read", { path: "a.txt" });
const EDIT = call("edit", { path: "a.txt", old_text: "one", new_text: "two" });

const ofType = <Type extends SessionEvent["type"]>(events: readonly SessionEvent[], type: Type) =>
  events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type);

describe("a call that must fail", () => {
  it("fails without a permission request", async () => {
    await using scene = await openScene([WRONG, call("bash", { command: 7 }), say("Sorry.")], { permissions: "ask" });
    const events = await collect(scene.session.prompt("x"));
    expect(ofType(events, "permission.requested")).toEqual([]);
    expect(ofType(events, "tool.ended").map(({ outcome, text }) => [outcome, text.split("\n")[0]])).toEqual([
      ["failed", expect.stringContaining("missing.txt does not exist")],
      ["failed", expect.stringContaining("invalid arguments")],
    ]);
    expect(scene.model.requests.at(-1)?.toolResults).toMatchObject([{ isError: true }]);
  });

  it("is denied without a check if the policy forbids every call", async () => {
    await using scene = await openScene([WRONG, say("Sorry.")], { permissions: "none" });
    const [ended] = ofType(await collect(scene.session.prompt("x")), "tool.ended");
    expect(ended).toMatchObject({ outcome: "denied", text: expect.not.stringContaining("does not exist") as string });
  });
});

it("asks about an edit with its diff, and checks again after the answer", async () => {
  await using scene = await openScene([READ, EDIT, say("Done.")], { permissions: "ask" });
  const file = join(scene.options.cwd, "a.txt");
  await writeFile(file, "one\n");
  const events: SessionEvent[] = [];
  for await (const event of scene.session.prompt("x")) {
    events.push(event);
    if (event.type !== "permission.requested") continue;
    await writeFile(file, "one, changed by somebody else\n");
    await scene.session.answer(event.requestId, { decision: "allow" });
  }
  const diffs = [{ path: "a.txt", before: "one\n", after: "two\n" }];
  expect(ofType(events, "permission.requested")).toMatchObject([{ tool: "edit", diffs }]);
  expect(ofType(events, "tool.ended").at(-1)).toMatchObject({
    outcome: "failed",
    text: expect.stringContaining("has changed since it was read") as string,
  });
  expect(await scene.file("a.txt")).toBe("one, changed by somebody else\n");
});
