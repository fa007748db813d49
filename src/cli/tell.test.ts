import { afterEach, expect, it } from "vitest";
import { call, say } from "../testing/index.ts";
import { eventsIn, openPlace, type Place } from "./spawned.ts";

let place: Place;
afterEach(() => place[Symbol.asyncDispose]());

it("says something to an agent that another process drives, and it hears it at its next step", async () => {
  place = await openPlace([call("write", { path: "a.txt", content: "1" }), say("As you wish.")]);
  const run = place.start(["run", "x", "--permissions", "ask", "--json"]);
  const [, session = ""] = await run.said(/"sessionId":"(\w+)"/);
  await run.said(/rookery answer \S+ r1 allow/);
  expect(await place.rookery(["tell", session, "rather so"])).toMatchObject({
    code: 0,
    stdout: `told ${session}\n`,
    stderr: "",
  });
  await place.rookery(["answer", session, "r1", "allow"]);
  const { code, stdout } = await run.ended;
  expect(code).toBe(0);
  expect(eventsIn(stdout).filter(({ type }) => type === "input.delivered")).toHaveLength(1);
});

it("keeps it for whoever goes on with a session that no process drives, and says so", async () => {
  place = await openPlace([say("one"), say("two")]);
  const { stdout } = await place.rookery(["run", "x", "--json"]);
  const [, session = ""] = /"sessionId":"(\w+)"/.exec(stdout) ?? [];
  const told = await place.rookery(["tell", session, "--follow-up", "and then", "--json"]);
  expect(JSON.parse(told.stdout)).toMatchObject({ session, deliver: "follow_up" });
  expect(told.stderr).toContain(`go on with it: rookery run --session ${session}`);
  expect((await place.rookery(["run", "--session", session])).stdout).toContain("two");
});

it("says something to the agent of a task that runs, and to none that has not begun", async () => {
  place = await openPlace([call("bash", { command: "true" }), say("As you wish.")]);
  await place.rookery(["task", "start", "x", "--id", "later", "--detach"]);
  const early = await place.rookery(["tell", "later", "rather so"]);
  expect(early).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("say it when its agent has begun") as string,
  });
  const run = place.start(["task", "start", "x", "--id", "fix"]);
  await run.said(/rookery answer \S+ r1/);
  expect(await place.rookery(["tell", "fix", "rather so"])).toMatchObject({ code: 0, stderr: "" });
  await place.rookery(["answer", "fix", "r1", "allow"]);
  await run.ended;
  const shown = await place.rookery(["sessions", "events", "last", "--json"]);
  expect(eventsIn(shown.stdout).filter(({ type }) => type === "input.delivered")).toHaveLength(1);
});

it.each([
  [["tell", "last", " "], "the prompt is empty"],
  [["tell", "ses_nothing", "hi"], "no session"],
  [["tell", "last"], "text"],
])("%j is refused in words", async (words, expected) => {
  place = await openPlace([say("one")]);
  await place.rookery(["run", "x"]);
  const { code, stderr } = await place.rookery(words);
  expect(code).not.toBe(0);
  expect(stderr).toContain(expected);
});
