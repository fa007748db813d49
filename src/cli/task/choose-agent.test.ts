import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtEnvironment } from "../../testing/index.ts";
import { type CommandFixture, FAKE_KEY, openCommandFixture } from "../test-command.ts";
import { nameDefaultAgent } from "./choose-agent.ts";

let fixture: CommandFixture;
beforeEach(async () => {
  fixture = await openCommandFixture([], { codeCache: false });
});
afterEach(() => fixture[Symbol.asyncDispose]());

it("starts no task in this process if its agent is not ready, and says what is missing", async () => {
  const env = { ANTHROPIC_API_KEY: undefined };
  const started = await fixture.rookery(["task", "start", "Fix it", "--agent", "anthropic"], { env });
  expect(started).toMatchObject({ code: 1, stdout: "" });
  expect(started.stderr).toMatch(
    /^rookery: cannot start the task: the agent anthropic is not ready: .*ANTHROPIC_API_KEY/,
  );
  expect((await fixture.rookery(["task", "list", "--json"])).stdout).toBe("");
});

it("queues a task for a server that is started later, without a check", async () => {
  const env = { ANTHROPIC_API_KEY: undefined };
  expect(await fixture.rookery(["task", "start", "Fix it", "--detach"], { env })).toMatchObject({ code: 0 });
});

const request = (more: object = {}) => ({ prompt: "x", ...more });
const choose = (more: object, extra: Record<string, string>) =>
  nameDefaultAgent({ env: builtEnvironment({ home: fixture.home, extra }) }, request(more), fixture.repository.path);

it("names the agent for a server that is ready in this environment", async () => {
  expect(await choose({}, { ANTHROPIC_API_KEY: FAKE_KEY })).toEqual(request({ agent: "anthropic" }));
  expect(await choose({}, { OPENAI_API_KEY: FAKE_KEY })).toEqual(request({ agent: "openai" }));
});

it("leaves the choice to the server if the request or the configuration chooses, or no agent is ready here", async () => {
  const given = { ANTHROPIC_API_KEY: FAKE_KEY };
  expect(await choose({}, {})).toEqual(request());
  expect(await choose({ agent: "claude" }, given)).toEqual(request({ agent: "claude" }));
  expect(await choose({ pipeline: "p" }, given)).toEqual(request({ pipeline: "p" }));
  await mkdir(join(fixture.home, ".config", "rookery"), { recursive: true });
  await writeFile(join(fixture.home, ".config", "rookery", "rookery.toml"), '[defaults]\nagent = "openai"\n');
  expect(await choose({}, given)).toEqual(request());
});
