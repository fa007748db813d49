import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type * as acp from "../../acp/schema.ts";
import { userConfigFile } from "../../config/index.ts";
import { choosing, linesOf, updatesOf } from "../../server/acp/test-scene.ts";
import { deferred } from "../../stdx/index.ts";
import { say, type AcpScript } from "../../testing/index.ts";
import { openEditorScene } from "./test-scene.ts";

const AGENT = fileURLToPath(new URL("../../../dist/testing/acp-agent.js", import.meta.url));

/** Configures an ACP agent and the built-in agent. */
async function openBehind(script: AcpScript) {
  const scene = await openEditorScene(() => say("built in"));
  const file = join(scene.fixture.home, "script.json");
  await writeFile(file, JSON.stringify({ sessionsFile: join(scene.fixture.home, "sessions.json"), ...script }));
  const config = userConfigFile(scene.fixture.env);
  await mkdir(dirname(config), { recursive: true });
  const command = JSON.stringify([process.execPath, AGENT, file]);
  await writeFile(config, `[agents.other]\nbackend = "acp"\ncommand = ${command}\n`);
  return scene;
}

it("shows thoughts, plans, requests and edits of an ACP agent in the editor", async () => {
  await using scene = await openBehind({
    prompts: [
      [
        { update: { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm." } } },
        { update: { sessionUpdate: "plan", entries: [{ content: "Do it", priority: "high", status: "pending" }] } },
        { say: "I ask." },
        { permission: { on: { allow_once: [{ say: "Allowed." }], allow_always: [{ say: "Always." }] } } },
        { elicit: { message: "How many?" } },
      ],
    ],
  });
  const asked: (acp.RequestPermissionRequest | acp.CreateElicitationRequest)[] = [];
  const editor = await scene.editor({
    args: ["acp", "--agent", "other"],
    serve: {
      permission: (request) => (asked.push(request), choosing("allow")),
      elicitation: (request) => (asked.push(request), { action: "accept", content: { answer: "42" } }),
    },
  });
  const session = await editor.client.session(scene.cwd).create();
  expect(await session.prompt("Go").finish()).toMatchObject({ stopReason: "end_turn" });
  const lines = linesOf(updatesOf(editor, session.id));
  expect(lines).toEqual(expect.arrayContaining(["thinks Hm.", "plan"]));
  expect(lines.join("\n")).toContain("Allowed.");
  expect(lines.join("\n")).toContain("42");
  expect(asked).toMatchObject([
    { sessionId: session.id },
    { sessionId: session.id, mode: "form", message: "How many?" },
  ]);
});

it("forwards a cancel of the editor to the agent", async () => {
  await using scene = await openBehind({ otherwise: [{ say: "begun" }, { waitForCancel: true }] });
  const editor = await scene.editor({ args: ["acp", "--agent", "other"] });
  const session = await editor.client.session(scene.cwd).create();
  const turn = session.prompt("Go");
  const begun = deferred();
  void editor.came((message) => JSON.stringify(message).includes("begun")).then(() => begun.resolve());
  await begun.promise;
  await turn.cancel();
  expect(await turn.finish()).toMatchObject({ stopReason: "cancelled" });
});

it("continues a session with another agent", async () => {
  await using scene = await openBehind({ otherwise: [{ say: "behind" }] });
  const editor = await scene.editor();
  const session = await editor.client.session(scene.cwd).create();
  expect(await session.prompt("1").readText()).toBe("behind");
  await session.setConfigOption("agent", "anthropic");
  expect(await session.prompt("2").readText()).toBe("built in");
  await session.setConfigOption("agent", "other");
  expect(await session.prompt("3").readText()).toBe("behind");
});

it("fails the turn of an agent that exits, with its stderr, and restarts it for the next prompt", async () => {
  await using scene = await openBehind({
    prompts: [{ when: "die", steps: [{ stderr: "out of luck\n" }, { exit: { code: 3 } }] }],
    otherwise: [{ say: "well" }],
  });
  const editor = await scene.editor({ args: ["acp", "--agent", "other"] });
  const session = await editor.client.session(scene.cwd).create();
  await expect(session.prompt("die").finish()).rejects.toMatchObject({ data: { code: "agent_exited" } });
  expect(await session.prompt("live").readText()).toBe("well");
});
