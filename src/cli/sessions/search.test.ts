import { expect, it } from "vitest";
import { say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

it("prints the session, the event and the text of each match", async () => {
  await using fixture = await openCommandFixture(() => say("The kea opens bins."));
  await fixture.rookery(["run", "Tell me about birds"]);
  const found = await fixture.rookery(["search", "bins KEA"]);
  expect(found.stdout).toMatch(
    /^\w{8} \d+ {2}.* {2}message\.completed {2}Tell me about birds\n {4}The kea opens bins\.\n$/,
  );
  const [line = ""] = (await fixture.rookery(["search", "birds", "--json", "--limit", "1"])).stdout.split("\n");
  expect(JSON.parse(line)).toMatchObject({ type: "turn.started", excerpt: "Tell me about birds" });
  expect((await fixture.rookery(["search", "absent"])).stdout).toBe("no event of a session has all of these words\n");
});
