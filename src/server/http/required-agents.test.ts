import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../../testing/index.ts";
import { openHttp } from "./test-scene.ts";

/** A server whose environment has no key, while a shell on the same machine may have one. */
async function openKeylessServer() {
  const home = await temporaryFolder();
  return openHttp([], { env: builtEnvironment({ home: home.path, extra: { OPENAI_API_KEY: "fake" } }) });
}

it("refuses a task before accepting it if the server lacks the key of the agent", async () => {
  await using scene = await openKeylessServer();
  await using repository = await temporaryRepository();
  const refused = await scene.post("/v1/tasks", { prompt: "Work", cwd: repository.path, agent: "anthropic" });
  expect(refused).toMatchObject({ status: 422, json: { code: "agent_not_ready" } });
  const { detail } = refused.json;
  expect(detail).toMatch(
    new RegExp(`^the server \\(process ${process.pid}, since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\)`),
  );
  expect(detail).toContain("cannot run the agent anthropic: ANTHROPIC_API_KEY is not set");
  expect(detail).toContain("restart it where the variable is set");
  expect(detail).toContain("ready there: openai");
  expect((await scene.get("/v1/tasks")).json.tasks).toEqual([]);
});

it("accepts a task whose agent is ready, and refuses to resume it when the server no longer has the key", async () => {
  await using scene = await openHttp();
  await using repository = await temporaryRepository();
  const started = await scene.post("/v1/tasks", { prompt: "Work", id: "work", cwd: repository.path });
  expect(started.status).toBe(201);
  expect((await scene.post("/v1/tasks/work/stop", {})).status).toBe(200);
  await writeFile(
    join(repository.path, "rookery.toml"),
    '[agents.anthropic]\nmodel = "anthropic/claude-sonnet-5"\n[providers.anthropic]\nkey_env = "OTHER_KEY"\n',
  );
  const { trust } = await import("../../config/index.ts");
  await trust(repository.path, scene.env);
  const refused = await scene.post("/v1/tasks/work/resume", {});
  expect(refused.json).toMatchObject({
    code: "agent_not_ready",
    detail: expect.stringContaining("OTHER_KEY") as never,
  });
  expect((await scene.get("/v1/tasks/work")).json).toMatchObject({ status: "stopped" });
});

it("refuses a task whose pipeline needs an agent that the server cannot run", async () => {
  await using scene = await openHttp();
  await using repository = await temporaryRepository();
  const stages = '[pipelines.two]\nstages = [{ agent = "anthropic" }, { agent = "openai" }]\n';
  await writeFile(join(repository.path, "rookery.toml"), stages);
  const { trust } = await import("../../config/index.ts");
  await trust(repository.path, scene.env);
  const refused = await scene.post("/v1/tasks", { prompt: "Work", cwd: repository.path, pipeline: "two" });
  expect(refused.json).toMatchObject({
    code: "agent_not_ready",
    detail: expect.stringContaining("openai") as never,
  });
});

it("lets the setup of the worktree install a missing program", async () => {
  await using scene = await openHttp();
  await using repository = await temporaryRepository();
  const toml = '[agents.mine]\nbackend = "command"\ncommand = ["not-installed-yet"]\n';
  await writeFile(join(repository.path, "rookery.toml"), toml);
  const { trust } = await import("../../config/index.ts");
  await trust(repository.path, scene.env);
  const request = { prompt: "Work", cwd: repository.path, agent: "mine" };
  expect((await scene.post("/v1/tasks", request)).json.detail).toContain("not-installed-yet was not found");
  await writeFile(join(repository.path, "rookery.toml"), `${toml}[worktree]\nsetup = "npm ci"\n`);
  await trust(repository.path, scene.env);
  expect((await scene.post("/v1/tasks", request)).status).toBe(201);
});

it("refuses a session whose agent is not ready, and lists readiness with the agents", async () => {
  await using scene = await openKeylessServer();
  expect((await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json.code).toBe("agent_not_ready");
  const { agents } = (await scene.get("/v1/agents")).json;
  expect(agents.find(({ name }) => name === "anthropic")).toMatchObject({
    ready: false,
    missing: expect.stringContaining("ANTHROPIC_API_KEY") as never,
  });
  expect(agents.find(({ name }) => name === "openai")).toMatchObject({ ready: true });
});
