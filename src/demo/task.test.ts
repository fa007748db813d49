import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Rookery } from "../rookery.ts";
import { builtEnvironment, temporaryFolder } from "../testing/index.ts";

const CONFIG = ".config/rookery";

it("queues a task in a new repository each time, for a user without a git identity or a key", async () => {
  await using folder = await temporaryFolder();
  await using rookery = await Rookery.open({ env: builtEnvironment({ home: folder.path }) });
  const [first, second] = [await rookery.startDemoTask(), await rookery.startDemoTask()];
  expect(first).toMatchObject({ status: "queued", agent: "anthropic", title: "Demo: fix a failing test" });
  expect(first.repository).toContain(join(rookery.home, "demo"));
  expect(second.repository).not.toBe(first.repository);
});

it("uses another built-in agent if the user's configuration replaces the first one", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, CONFIG), { recursive: true });
  await writeFile(join(folder.path, CONFIG, "rookery.toml"), '[agents.anthropic]\nbackend = "codex"\n');
  await using rookery = await Rookery.open({ env: builtEnvironment({ home: folder.path }) });
  expect(await rookery.startDemoTask()).toMatchObject({ agent: "openai" });
});
