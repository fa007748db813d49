import { expect, it } from "vitest";
import { systemClock } from "../stdx/index.ts";
import { call, say, transcript, type Script } from "../testing/index.ts";
import { revokeStoredGrant } from "./revoke-grant.ts";
import { openScene } from "./test-scene.ts";

const RUN: Script = ({ messages }) =>
  messages.at(-1)?.toolResults.length === 0 ? call("bash", { command: "true" }) : say("ran");

async function runTurn(session: Awaited<ReturnType<typeof openScene>>["session"]): Promise<string[]> {
  const events = [];
  for await (const event of session.prompt("go")) {
    events.push(event);
    if (event.type === "permission.requested")
      await session.answer(event.requestId, { decision: "allow", scope: "session" });
  }
  return transcript(events).filter((line) => line.startsWith("asks"));
}

it("asks again for a tool that was always allowed, after a person revoked it here or in another process", async () => {
  await using s = await openScene(RUN);
  expect(await runTurn(s.session)).toEqual(["asks r1 bash: true"]);
  expect(await runTurn(s.session)).toEqual([]);
  await s.session.revoke("bash");
  expect(s.session.state.grants).toEqual([]);
  expect(await runTurn(s.session)).toEqual(["asks r2 bash: true"]);
  const options = { sessionId: s.session.id, tool: "bash", clock: systemClock };
  await revokeStoredGrant(s.store, options);
  await revokeStoredGrant(s.store, options); // changes nothing
  expect(await runTurn(s.session)).toEqual(["asks r3 bash: true"]);
  expect((await s.lines()).filter((line) => line.startsWith("revoked"))).toEqual(["revoked bash", "revoked bash"]);
  await s.session.end();
  await expect(revokeStoredGrant(s.store, options)).rejects.toMatchObject({ code: "session_closed" });
});
