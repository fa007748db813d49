import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createContractFolders } from "../src/backends/contract/folders.ts";
import { modelScript } from "../src/backends/contract/index.ts";
import { PROMPTS } from "../src/backends/contract/prompts.ts";
import type { AdoptableBackend, SessionEvent } from "../src/domain/index.ts";
import { Rookery } from "../src/rookery.ts";
import { DisposeStack } from "../src/stdx/index.ts";
import { openMemoryStore } from "../src/store/index.ts";
import { collect, startModelServer, transcript } from "../src/testing/index.ts";
import { promptOutside } from "./native-sessions.mjs";
import { programs } from "./programs/index.mjs";

/** A program with a session that it made outside of Rookery: two prompts. */
async function openKeptSession(name: keyof typeof programs, second: string) {
  await using opening = new DisposeStack();
  const place = opening.use(await createContractFolders());
  const recipe = programs[name];
  const model = opening.use(await startModelServer(modelScript(recipe, place.files)));
  const { env, toml } = await recipe.prepare({ ...place, modelUrl: model.url });
  const home = join(place.root, "rookery");
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "rookery.toml"), `[agents.${name}]\n${toml}\n`);
  const store = opening.use(openMemoryStore());
  const rookery = opening.use(await Rookery.open({ env, cwd: place.cwd, store, home }));
  const command = JSON.parse(/^command = (.*)$/m.exec(toml)?.[1] ?? "[]") as string[];
  const say = (prompt: string, resume?: string) =>
    promptOutside({ name, command, env, cwd: place.cwd, prompt, ...(resume !== undefined && { resume }) });
  await say(PROMPTS.hello);
  const backend = recipe.backend as AdoptableBackend;
  const [kept] = await rookery.nativeSessions({ backend });
  if (kept === undefined) throw new Error(`${name} kept no session`);
  await say(second, kept.nativeId);
  const owned = opening.move();
  return { rookery, store, model, kept, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

const howOf = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "agent.connected" ? [event.how] : []));

it.each(["claude", "codex"] as const)("adopts a session that the real %s made, and continues it", async (name) => {
  await using scene = await openKeptSession(name, PROMPTS.permission);
  const { rookery, store, model, kept } = scene;
  const { backend, nativeId } = kept;
  expect(kept.title).toBe(PROMPTS.hello);
  const session = await rookery.openSession({ adopt: { backend, nativeId }, permissions: "all" });
  const { events: imported } = await store.read({ sessionId: session.id });
  const said = transcript(imported);
  expect(said.slice(0, 4)).toEqual([
    `opened ${name}`,
    `started ${PROMPTS.hello}`,
    expect.stringMatching(/^says /),
    "ended done",
  ]);
  expect(said).toEqual(expect.arrayContaining([`started ${PROMPTS.permission}`, "tool ok"]));
  expect(said.filter((line) => line.startsWith("notice"))).toEqual([]);
  expect(session.state).toMatchObject({ turns: 2, nativeId });
  expect(session.state.usage.inputTokens).toBeGreaterThan(0);

  const events = await collect(session.prompt(PROMPTS.again));
  expect(transcript(events)).toContain("ended done");
  expect(howOf(events)).toContain("resumed");
  const sent = JSON.stringify(model.requests.at(-1)?.messages);
  for (const prompt of [PROMPTS.hello, PROMPTS.permission, PROMPTS.again])
    expect(sent.split(prompt), prompt).toHaveLength(2); // the history once, by the program
  await expect(rookery.adoptSession({ backend, nativeId })).rejects.toMatchObject({ code: "native_session_in_use" });
});

it("adopts a session that the real gemini made, and continues it", async () => {
  await using scene = await openKeptSession("gemini", PROMPTS.question);
  const { rookery, store, model, kept } = scene;
  const session = await rookery.openSession({
    adopt: { backend: "gemini-cli", nativeId: kept.nativeId },
    permissions: "all", // Gemini CLI resumes its own session only if it needs not ask
  });
  const { events: imported } = await store.read({ sessionId: session.id });
  const said = transcript(imported);
  expect(said).toEqual(expect.arrayContaining([`started ${PROMPTS.hello}`, `started ${PROMPTS.question}`]));
  expect(said.filter((line) => line.startsWith("notice"))).toEqual([]);
  const events = await collect(session.prompt(PROMPTS.again));
  expect(transcript(events)).toContain("ended done");
  expect(howOf(events)).toContain("resumed");
  const sent = JSON.stringify(model.requests.at(-1)?.messages);
  for (const prompt of [PROMPTS.hello, PROMPTS.again]) expect(sent.split(prompt), prompt).toHaveLength(2);
});
