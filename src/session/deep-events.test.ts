import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openWorld } from "./test-scene.ts";

/** An ACP agent that sends raw lines, because Rookery would not write such JSON. */
const AGENT = `
const deep = "[".repeat(5000) + "]".repeat(5000);
let prompts = 0;
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const answer = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  const update = (text) =>
    process.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":' + text + "}}\\n");
  if (method === "initialize") answer({ protocolVersion: 1, agentCapabilities: {} });
  else if (method === "session/new") answer({ sessionId: "s" });
  else if (method === "session/prompt") {
    prompts += 1;
    if (prompts === 1) {
      update('{"sessionUpdate":"tool_call","toolCallId":"t","title":"t","status":"in_progress","rawInput":' + deep + "}");
      update('{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","rawOutput":' + deep + "}");
    }
    update('{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}');
    answer({ stopReason: "end_turn" });
  } else if (id !== undefined) answer({});
});
`;

it("fails the turn of an ACP agent that sends deeply nested JSON, and accepts the next prompt", async () => {
  await using world = await openWorld([]);
  const file = join(world.home, "agent.cjs");
  await writeFile(file, AGENT);
  const command = JSON.stringify([process.execPath, file]);
  await world.configure(`[agents.deep]\nbackend = "acp"\ncommand = ${command}\n`);
  const rookery = await world.open();
  world.owned.defer(() => rookery.close());
  const session = await rookery.openSession({ agent: "deep", permissions: "all" });
  expect(await session.prompt("go").outcome).toMatchObject({ status: "failed", code: "agent_failed" });
  expect(await session.prompt("again").outcome).toMatchObject({ status: "done" });
  const events = await world.events(session.id);
  expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2);
  expect(events).toContainEqual(expect.objectContaining({ type: "notice", code: "event_cut" }));
});
