import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SessionEvent } from "../../../domain/index.ts";
import { LATER, dyingAfter, openWorld } from "../../../session/test-scene.ts";
import { systemClock } from "../../../stdx/index.ts";
import { call, collect, say, type Script } from "../../../testing/index.ts";

const EDIT = { path: "a.txt", old_text: "one", new_text: "two" };

/** The prompt "read" causes a read, "edit" an edit, and "both" one after the other. */
const script: Script = ({ messages, toolResults }) => {
  const prompt = messages.findLast(({ role, text }) => role === "user" && text !== "")?.text;
  const [result] = toolResults.slice(-1);
  if (messages.at(-1)?.text === prompt) return prompt === "edit" ? call("edit", EDIT) : call("read", { path: "a.txt" });
  return prompt === "both" && result?.content === "1\tone" ? call("edit", EDIT) : say("Done.");
};

const endings = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "tool.ended" ? [event] : []));

async function openFolder() {
  const w = await openWorld(script);
  const path = join(w.options.cwd, "a.txt");
  const write = (text: string) => writeFile(path, text);
  await write("one\n");
  return { ...w, write };
}

it("accepts an edit after the session is reopened if the file is unchanged since it was read", async () => {
  await using w = await openFolder();
  let id: string;
  {
    await using rookery = await w.open();
    const session = await rookery.openSession({ permissions: "all" });
    id = session.id;
    await collect(session.prompt("read"));
  }
  await using rookery = await w.open();
  const session = await rookery.openSession({ id });
  await w.write("one, and more\n");
  expect(endings(await collect(session.prompt("edit")))).toMatchObject([
    { outcome: "failed", text: expect.stringMatching(/has changed since it was read/) },
  ]);
  await w.write("one\n");
  expect(endings(await collect(session.prompt("edit")))).toMatchObject([{ outcome: "ok" }]);
  expect(await w.file("a.txt")).toBe("two\n");
});

it("requires a new read after the conversation was replaced", async () => {
  await using w = await openFolder();
  await using rookery = await w.open();
  const session = await rookery.openSession({ permissions: "all" });
  await collect(session.prompt("read"));
  await session.replaceConversation([]);
  await session[Symbol.asyncDispose]();
  const again = await rookery.openSession({ id: session.id });
  expect(endings(await collect(again.prompt("edit")))).toMatchObject([
    { outcome: "failed", text: expect.stringMatching(/was not read in this conversation/) },
  ]);
});

it("after a crash at any commit, accepts an edit of a file that the turn read before", async () => {
  async function dieAfter(commits: number): Promise<boolean> {
    await using w = await openFolder();
    const dying = await w.open(systemClock, dyingAfter(w.store, commits));
    const first = await dying.openSession({ permissions: "all" });
    const died = await first.prompt("both").outcome.then(
      () => false,
      () => true,
    );
    await dying.close().catch(() => undefined);
    await using rookery = await w.open(LATER);
    const session = await rookery.openSession({ id: first.id });
    await (session.resumed ?? session.prompt("both")).outcome;
    const [read, edit] = endings(await w.events(first.id));
    expect(read?.outcome).toBe("ok");
    expect(edit?.outcome).toMatch(/^(ok|unknown)$/);
    return died;
  }
  let commits = 2;
  while (await dieAfter(commits)) commits += 1;
  expect(commits).toBeGreaterThan(5);
});
