import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { trust, userConfigFile } from "../config/index.ts";
import { Rookery } from "../rookery.ts";
import { openWorld } from "../session/test-scene.ts";
import { say, temporaryRepository } from "../testing/index.ts";

/** Two homes beside the home and the configuration of the user, all with an agent of the same name. */
async function openHomes() {
  const world = await openWorld(({ model }) => say(model));
  const { owned, options } = world;
  const repository = owned.use(
    await temporaryRepository({ "rookery.toml": `[agents.theirs]\nmodel = "anthropic/theirs"\n` }),
  );
  const write = async (file: string, model: string) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `[defaults]\nagent = "it"\n[agents.it]\nmodel = "anthropic/${model}"\n`);
  };
  const [first, second] = [join(world.home, "first"), join(world.home, "second")];
  await write(userConfigFile(options.env), "of-the-user");
  await write(join(first, "rookery.toml"), "of-first");
  await write(join(second, "rookery.toml"), "of-second");
  const open = async (home?: string) => {
    const place = home === undefined ? {} : { home };
    return owned.use(await Rookery.open({ env: options.env, cwd: options.cwd, ...place }));
  };
  return { ...world, first, second, repository: repository.path, open };
}

it("takes agents and defaults from the home that the caller chooses, and from the user's file otherwise", async () => {
  await using homes = await openHomes();
  for (const [home, model] of [
    [homes.first, "of-first"],
    [homes.second, "of-second"],
    [undefined, "of-the-user"],
  ] as const) {
    const rookery = await homes.open(home);
    const session = await rookery.openSession();
    expect(await session.prompt("hello").text()).toBe(model);
    expect((await rookery.sessions()).map(({ id }) => id)).toEqual([session.id]);
  }
});

it("takes trust from the home that the caller chooses", async () => {
  await using homes = await openHomes();
  const { env } = homes.options;
  const options = { cwd: homes.repository, agent: "theirs" };
  const refused = { code: "not_trusted" };
  await trust(homes.repository, env);
  const [first, second] = [await homes.open(homes.first), await homes.open(homes.second)];
  await expect(first.openSession(options)).rejects.toMatchObject(refused);
  await trust(homes.repository, { ...env, ROOKERY_HOME: homes.second });
  await expect(first.openSession(options)).rejects.toMatchObject(refused);
  expect((await second.openSession(options)).state.model).toBe("anthropic/theirs");
});

it("describes the configuration of the home that the caller chooses", async () => {
  await using homes = await openHomes();
  const rookery = await homes.open(homes.first);
  expect((await rookery.describeConfig()).values.map(({ file }) => file)).toContain(join(homes.first, "rookery.toml"));
  expect(rookery.home).toBe(homes.first);
});
