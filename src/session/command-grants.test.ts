import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { RookeryError } from "../domain/index.ts";
import { systemClock } from "../stdx/index.ts";
import { call, say, transcript, type Script } from "../testing/index.ts";
import { revokeStoredGrant } from "./revoke-grant.ts";
import { openScene } from "./test-scene.ts";

/** Each turn runs the command that its prompt names, as the built-in agent does. */
const RUN: Script = ({ messages }) => {
  const last = messages.at(-1);
  return last?.toolResults.length === 0 ? call("bash", { command: last.text }) : say("ran");
};

type Scene = Awaited<ReturnType<typeof openScene>>;

function describeError(error: unknown): string {
  return error instanceof RookeryError ? `${error.code}: ${error.message}` : String(error);
}

/** Allows the command by the prefix, or denies it. Returns what was asked. */
async function run({ session }: Scene, command: string, prefix?: string): Promise<string[]> {
  const events = [];
  for await (const event of session.prompt(command)) {
    events.push(event);
    if (event.type !== "permission.requested") continue;
    await session.answer(
      event.requestId,
      prefix === undefined ? { decision: "deny" } : { decision: "allow", scope: "session", prefix },
    );
  }
  return transcript(events).filter((line) => line.startsWith("asks"));
}

it("allows a command by its first words, and asks again for every hostile variant", async () => {
  await using s = await openScene(RUN);
  expect(await run(s, "echo one", "echo  one ")).toEqual(["asks r1 bash: echo one"]);
  expect(s.session.state).toMatchObject({ grants: [], commandGrants: [{ tool: "bash", prefix: "echo one" }] });
  expect(await run(s, "echo one")).toEqual([]);
  expect(await run(s, "echo one 'two three'")).toEqual([]);
  for (const hostile of [
    "echo one; touch made",
    "echo one && touch made",
    "echo one > made",
    "echo one $(touch made)",
    "echo one `touch made`",
    "echo one\ntouch made",
    "X=1 echo one",
    "echo onex",
    "echo two",
  ])
    expect(await run(s, hostile), hostile).toHaveLength(1);
  expect(await s.lines()).toContain("answered r1 allow echo one by person");
});

it("asks again after the session changed its directory", async () => {
  await using s = await openScene(RUN);
  await run(s, "echo one", "echo one");
  expect(await run(s, "echo one")).toEqual([]);
  await s.session.change({ cwd: tmpdir() });
  expect(s.session.state.commandGrants).toEqual([]);
  expect(await run(s, "echo one")).toHaveLength(1);
});

it("refuses a prefix that does not fit the request, and keeps waiting for an answer", async () => {
  await using s = await openScene(RUN);
  const refused: string[] = [];
  for await (const event of s.session.prompt("echo one | cat")) {
    if (event.type !== "permission.requested") continue;
    const answers = [
      { decision: "allow", scope: "session", prefix: "echo one" },
      { decision: "allow", scope: "session", prefix: "bash" },
      { decision: "allow", prefix: "echo one" },
      { decision: "deny", scope: "session", prefix: "echo one" },
    ] as const;
    for (const answer of answers)
      await s.session.answer(event.requestId, answer).catch((error: unknown) => {
        refused.push(describeError(error));
      });
    await s.session.answer(event.requestId, { decision: "deny" });
  }
  const instead = "allow it once, or leave out the prefix to allow every call of bash";
  expect(refused).toEqual([
    `usage: request r1 cannot be allowed by a prefix: the request is not about one simple command without shell syntax; ${instead}`,
    `usage: request r1 cannot be allowed by a prefix: "bash" is not specific enough: it could run other commands; ${instead}`,
    "usage: a prefix is only valid for a permission that is given for the session",
    "usage: a prefix is only valid for a permission that is given for the session",
  ]);
  expect(s.session.state.commandGrants).toEqual([]);
});

it("revokes one prefix, or everything of a tool, here and in another process", async () => {
  await using s = await openScene(RUN);
  const options = { sessionId: s.session.id, tool: "bash", clock: systemClock };
  await run(s, "echo one", "echo one");
  await run(s, "echo two", "echo two");
  await s.session.revoke("bash", { prefix: "echo three" }); // changes nothing
  await s.session.revoke("bash", { prefix: "echo one" });
  expect(s.session.state.commandGrants).toEqual([{ tool: "bash", prefix: "echo two" }]);
  expect(await run(s, "echo two")).toEqual([]);
  expect(await run(s, "echo one", "echo one")).toHaveLength(1);
  await revokeStoredGrant(s.store, { ...options, prefix: "echo  two" });
  expect(await run(s, "echo two", "echo two")).toHaveLength(1);
  await revokeStoredGrant(s.store, options);
  expect(await run(s, "echo one")).toHaveLength(1);
  expect(await run(s, "echo two")).toHaveLength(1);
  expect((await s.lines()).filter((line) => line.startsWith("revoked"))).toEqual([
    "revoked bash: echo one",
    "revoked bash: echo two",
    "revoked bash",
  ]);
});
