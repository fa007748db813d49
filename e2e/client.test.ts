import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { agents } from "./agents/index.mjs";
import { NOTE, PROMPTS } from "./agents/model.mjs";
import type { ClientTurn } from "../src/acp/index.ts";
import { drive, until } from "./driven.ts";

describe.each(agents.map((recipe) => [recipe.name, recipe] as const))("%s", (name, recipe) => {
  it("answers a prompt, requests a permission and calls an MCP tool in one session", async () => {
    await using driven = await drive(recipe);
    const { client, scene, asked } = driven;
    const session = await client.session(scene.cwd).mcpServer(scene.notesServer).create();
    const hello = session.prompt(PROMPTS.hello);
    expect(await hello.readText()).toContain("Hello.");
    expect(await hello.stopReason).toBe("end_turn");

    expect(await session.prompt(PROMPTS.permission).finish()).toMatchObject({ stopReason: "end_turn" });
    expect(asked.length).toBeGreaterThan(0);
    expect(existsSync(scene.files.made)).toBe(true);

    expect(await session.prompt(PROMPTS.mcp).finish()).toMatchObject({ stopReason: "end_turn" });
    expect(scene.notes()).toEqual([NOTE]);
  });

  it("stops when it is cancelled during its answer, and leaves no process when it is closed", async () => {
    const driven = await drive(recipe);
    const { client, scene } = driven;
    try {
      const session = await client.session(scene.cwd).create();
      const turn = session.prompt(PROMPTS.wait);
      for await (const item of turn) {
        if (item.kind === "update" && item.update.sessionUpdate === "agent_message_chunk") void turn.cancel();
      }
      expect(await turn.stopReason).toBe("cancelled");
    } finally {
      await client.close();
    }
    await driven[Symbol.asyncDispose]();
    await until("the end of every process", () => scene.processes().length === 0);
  });

  it("gets `cancelled` for a pending permission request when its turn is cancelled", async () => {
    const turns: ClientTurn[] = [];
    await using driven = await drive(recipe, {
      permission: () => {
        for (const turn of turns) void turn.cancel();
        return new Promise(() => undefined); // the user does not answer; the client has to
      },
    });
    const { client, scene } = driven;
    const session = await client.session(scene.cwd).create();
    const turn = session.prompt(PROMPTS.permission);
    turns.push(turn);
    const outcome = await turn.finish().then(
      ({ stopReason }) => stopReason,
      (error: unknown) => String(error),
    );
    // opencode 1.18 answers a cancelled prompt with an error, which ends the turn too.
    expect(outcome).toMatch(name === "opencode" ? /cancelled|PeerError/ : /^cancelled$/);
    expect(existsSync(scene.files.made)).toBe(false);
  });

  it("continues its session in another process, if it supports that", async () => {
    await using driven = await drive(recipe);
    const { client, scene } = driven;
    const session = await client.session(scene.cwd).create();
    await session.prompt(PROMPTS.hello).finish();
    await client.close();
    const again = await driven.again();
    const { loadSession, sessionCapabilities } = again.capabilities;
    if (sessionCapabilities?.list != null) {
      const { sessions } = await again.listSessions({ cwd: scene.cwd });
      expect(sessions.map(({ sessionId }) => sessionId)).toContain(session.id);
    }
    if (sessionCapabilities?.resume != null) {
      const resumed = await again.session(scene.cwd).resume(session.id);
      expect(await resumed.prompt(PROMPTS.hello).readText()).toContain("Hello.");
      await resumed[Symbol.asyncDispose]();
    }
    if (loadSession === true && name !== "gemini") {
      // Gemini CLI 0.61 destroys a session that it loads within a minute of its creation.
      const loaded = await again.session(scene.cwd).load(session.id);
      const replayed = loaded
        .take()
        .flatMap((item) => (item.kind === "update" && item.when === "replay" ? [item.update] : []));
      expect(JSON.stringify(replayed)).toContain(PROMPTS.hello);
    }
  });
});
