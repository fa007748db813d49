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

const PRINT = `
const deep = (levels) => "[".repeat(levels) + "]".repeat(levels);
if (process.argv[2].includes("again")) console.log("hello");
else for (const levels of [600, 1_500, 4_000, 50_000, 1_000_000]) {
  console.log(deep(levels));
  console.log('{"text":' + deep(levels) + ',"session":' + deep(levels) + "}");
}
`;

it("ends the turn of a command agent that prints deeply nested JSON, and accepts the next prompt", async () => {
  await using world = await openWorld([]);
  const file = join(world.home, "print.cjs");
  await writeFile(file, PRINT);
  const command = JSON.stringify([process.execPath, file, "{prompt}"]);
  await world.configure(`[agents.deep]\nbackend = "command"\ncommand = ${command}\n`);
  await using rookery = await world.open();
  const session = await rookery.openSession({ agent: "deep", permissions: "all" });
  expect((await session.prompt("go").outcome).status).toMatch(/^(done|failed)$/);
  expect(await session.prompt("again").outcome).toMatchObject({ status: "done" });
  const events = await world.events(session.id);
  expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(2);
});
