import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../src/domain/index.ts";
import { LoopbackHttp } from "../src/mcp/endpoint/index.ts";
import { Rookery } from "../src/rookery.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import { openMemoryStore } from "../src/store/index.ts";
import { agents, type AgentRecipe } from "./agents/index.mjs";
import { NOTE, PROMPTS } from "./agents/model.mjs";
import { program } from "./agents/program.mjs";
import { openScene } from "./scene.mjs";

/** The model calls our tool under the name that the agent gives it. */
function throughUs(recipe: AgentRecipe): AgentRecipe {
  const mcpCall: AgentRecipe["mcpCall"] = ({ input }) =>
    recipe.mcpCall({ server: "rookery", tool: "notes__note", input });
  return { ...recipe, mcpCall };
}

/** Opens Rookery with this agent and the notes server, limited by a tool filter. */
async function openUser(recipe: AgentRecipe) {
  await using opening = new DisposeStack();
  const scene = opening.use(await openScene(throughUs(recipe)));
  const { command, env } = scene.launch;
  const { notesServer } = scene;
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "rookery.toml"),
    `[agents.it]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\ntools = { allow = ["notes__*"] }\n` +
      `[mcp.notes]\ncommand = ${JSON.stringify([notesServer.command, ...notesServer.args])}\n`,
  );
  const store = opening.use(openMemoryStore());
  const rookery = opening.use(await Rookery.open({ env, cwd: scene.cwd, store }));
  const owned = opening.move();
  return { scene, rookery, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

describe.each(agents.map((recipe) => [recipe.name, recipe] as const))("%s and the tools of a session", (_, recipe) => {
  it("calls a tool of the session, with one permission request", async () => {
    await using user = await openUser(recipe);
    const session = await user.rookery.openSession({ agent: "it", permissions: "ask" });
    const events: SessionEvent[] = [];
    for await (const event of session.prompt(PROMPTS.mcp)) {
      events.push(event);
      if (event.type === "permission.requested") await session.answer(event.requestId, { decision: "allow" });
    }
    expect(events.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "done" } });
    expect(user.scene.notes()).toEqual([NOTE]);
    const asked = events.filter((event) => event.type === "permission.requested");
    expect(asked.map(({ tool }) => tool)).toEqual(["notes__note"]);
    const started = events.flatMap((event) => (event.type === "tool.started" ? [`${event.name} ${event.title}`] : []));
    expect(started).toHaveLength(1);
  });

  it("does not run the tool if the permission is denied", async () => {
    await using user = await openUser(recipe);
    const session = await user.rookery.openSession({ agent: "it", permissions: "none" });
    for await (const _event of session.prompt(PROMPTS.mcp));
    expect(user.scene.notes()).toEqual([]);
  });
});

describe("Claude Code at the MCP endpoint of a session", () => {
  const claude = agents.find(({ name }) => name === "claude-agent-acp");

  it.each([
    ["its token", (token: string) => token, true],
    ["another token", () => "Bearer wrong", false],
    ["no token", () => undefined, false],
  ])("gets the filtered tools or nothing, with %s", async (_, tokenOf, reaches) => {
    if (claude === undefined) throw new Error("Claude Code is not part of the suite");
    await using user = await openUser(claude);
    const session = await user.rookery.openSession({ agent: "it", permissions: "all", toolsOnly: true });
    await using loopback = await LoopbackHttp.listen();
    const { spec } = loopback.serve(await session.tools.offer());
    const token = tokenOf(spec.headers["Authorization"] ?? "");
    const headers = token === undefined ? {} : { Authorization: token };
    const config = join(user.scene.home, "mcp.json");
    await writeFile(config, JSON.stringify({ mcpServers: { rookery: { type: "http", url: spec.url, headers } } }));
    const args = ["-p", PROMPTS.mcp, "--mcp-config", config, "--strict-mcp-config"];
    const allowed = ["--allowedTools", "mcp__rookery", "--output-format", "json"];
    const run = promisify(execFile)(program("@anthropic-ai/claude-agent-sdk-linux-x64/claude"), [...args, ...allowed], {
      cwd: user.scene.cwd,
      env: user.scene.launch.env,
      timeout: 60_000,
    });
    run.child.stdin?.end();
    await run;
    const offered = user.scene.model.requests
      .flatMap(({ toolNames }) => toolNames)
      .filter((name) => name.includes("rookery"));
    expect([...new Set(offered)]).toEqual(reaches ? ["mcp__rookery__notes__note"] : []);
    expect(user.scene.notes()).toEqual(reaches ? [NOTE] : []);
    if (!reaches) return;
    const { events } = await user.rookery.store.read({ sessionId: session.id });
    expect(events.filter(({ type }) => type === "tool.ended")).toMatchObject([{ outcome: "ok" }]);
  });
});
