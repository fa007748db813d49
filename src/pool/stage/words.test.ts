import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openScene } from "../test-scene.ts";

/** The reader is sent back once, and then waits until it is interrupted. */
const PIPELINE = `
[pipelines.read]
stages = [
  { agent = "robin" },
  { agent = "wren", prompt = """
Read it. {feedback}
run: test ! -e "$TMPDIR/failed" || test -e "$TMPDIR/go" || sleep 1000""" },
  { name = "check", run = 'test -e "$TMPDIR/go" || { touch "$TMPDIR/failed"; echo a page is missing; exit 1; }', back_to = "wren" },
]
`;

it("an agent that was interrupted is told again what it was to do in its stage, and what was wrong", async () => {
  await using s = await openScene({ toml: PIPELINE });
  s.run();
  await s.tasks.start({ id: "read", prompt: "Write it", pipeline: "read" });
  const told = async () => {
    const [session] = await s.rookery.store.list({ task: "read", agent: "wren" });
    if (session === undefined) return [];
    const { events } = await s.rookery.store.read({ sessionId: session.id });
    return events.flatMap((event) => (event.type === "turn.started" ? [JSON.stringify(event.input)] : []));
  };
  await vi.waitFor(async () => expect(await told()).toHaveLength(2), { timeout: 20_000 });
  await s.tasks.stop("read");
  await writeFile(join(s.folder, "go"), "");
  await s.tasks.resume("read");
  await s.until("read", "done");
  const [, , last] = await told();
  expect(last).toMatch(/You were interrupted.*Read it\. .*a page is missing/);
  expect(last).not.toContain("Write it");
});
