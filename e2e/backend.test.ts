import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Rookery } from "../src/rookery.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import { openMemoryStore } from "../src/store/index.ts";
import { collect, transcript } from "../src/testing/index.ts";
import { agents } from "./agents/index.mjs";
import { PROMPTS } from "./agents/model.mjs";
import { openScene } from "./scene.mjs";

describe.each(agents.map((recipe) => [recipe.name, recipe] as const))("%s as an agent of Rookery", (name, recipe) => {
  it("runs with permissions, and continues its session when it is reopened", async () => {
    await using owned = new DisposeStack();
    const scene = owned.use(await openScene(recipe));
    const { command, env } = scene.launch;
    const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, "rookery.toml"),
      `[agents.it]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\n`,
    );
    const store = owned.use(openMemoryStore());
    const rookery = owned.use(await Rookery.open({ env, cwd: scene.cwd, store }));
    const session = await rookery.openSession({ agent: "it", permissions: "all" });

    const hello = transcript(await collect(session.prompt(PROMPTS.hello))).join("\n");
    expect(hello).toMatch(/says .*Hello\.[^]*ended done/);
    const made = transcript(await collect(session.prompt(PROMPTS.permission)));
    expect(made).toContain("tool ok");
    expect(scene.made()).toBe(true);

    await session[Symbol.asyncDispose]();
    const again = await rookery.openSession({ id: session.id });
    const events = await collect(again.prompt(PROMPTS.hello));
    const how = name === "gemini" ? "handed_over" : "resumed";
    expect(events.find(({ type }) => type === "agent.connected")).toMatchObject({ how });
    expect(transcript(events)).toContain("ended done");
  });
});
