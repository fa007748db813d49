import { shortId } from "../domain/ids.ts";
import { afterEach, expect, it } from "vitest";
import { call, say } from "../testing/index.ts";
import { parseEventLines, openCommandFixture, type CommandFixture } from "./test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

it("delivers a message to an agent of another process at its next step", async () => {
  fixture = await openCommandFixture([call("write", { path: "a.txt", content: "1" }), say("As you wish.")]);
  const run = fixture.start(["run", "x", "--permissions", "ask", "--json"]);
  const [, session = ""] = await run.waitForOutput(/"sessionId":"(\w+)"/);
  await run.waitForOutput(/rookery answer \S+ r1 allow/);
  expect(await fixture.rookery(["tell", session, "rather so"])).toMatchObject({
    code: 0,
    stdout: `sent to ${shortId(session)}\n`,
    stderr: "",
  });
  await fixture.rookery(["answer", session, "r1", "allow"]);
  const { code, stdout } = await run.ended;
  expect(code).toBe(0);
  expect(parseEventLines(stdout).filter(({ type }) => type === "input.delivered")).toHaveLength(1);
});

it("keeps the message for a session that no process drives", async () => {
  fixture = await openCommandFixture([say("one"), say("two")]);
  const { stdout } = await fixture.rookery(["run", "x", "--json"]);
  const [, session = ""] = /"sessionId":"(\w+)"/.exec(stdout) ?? [];
  const told = await fixture.rookery(["tell", session, "--follow-up", "and then", "--json"]);
  expect(JSON.parse(told.stdout)).toMatchObject({ session, deliver: "follow_up" });
  expect(told.stderr).toContain(`continue it with: rookery run --session ${shortId(session)}`);
  expect((await fixture.rookery(["run", "--session", session])).stdout).toContain("two");
});

it("delivers a message to a running task, and rejects one that has not started", async () => {
  fixture = await openCommandFixture([call("bash", { command: "true" }), say("As you wish.")]);
  await fixture.rookery(["task", "start", "x", "--id", "later", "--detach"]);
  const early = await fixture.rookery(["tell", "later", "rather so"]);
  expect(early).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("try again when its agent has started") as string,
  });
  const run = fixture.start(["task", "start", "x", "--id", "fix"]);
  await run.waitForOutput(/rookery answer \S+ r1/);
  expect(await fixture.rookery(["tell", "fix", "rather so"])).toMatchObject({ code: 0, stderr: "" });
  await fixture.rookery(["answer", "fix", "r1", "allow"]);
  await run.ended;
  const shown = await fixture.rookery(["task", "logs", "fix", "--json"]);
  expect(parseEventLines(shown.stdout).filter(({ type }) => type === "input.delivered")).toHaveLength(1);
});

it.each([
  [["tell", "last", " "], "the prompt is empty"],
  [["tell", "ses_nothing", "hi"], "no session"],
  [["tell", "last"], "text"],
])("rejects %j with a message", async (words, expected) => {
  fixture = await openCommandFixture([say("one")]);
  await fixture.rookery(["run", "x"]);
  const { code, stderr } = await fixture.rookery(words);
  expect(code).not.toBe(0);
  expect(stderr).toContain(expected);
});
