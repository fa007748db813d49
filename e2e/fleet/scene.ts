/** Sets up a repository, and `rookery serve` with Claude Code and Codex on one scripted model. */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createClient, remoteTasks } from "../../src/client/index.ts";
import { userConfigFile } from "../../src/config/index.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { killAllWith, processesWith } from "../../test/fleet/processes.ts";
import { fleetServer } from "../../test/fleet/server.ts";
import { startModelServer, temporaryFolder, temporaryRepository } from "../../src/testing/index.ts";
import { programs } from "../programs/index.mjs";
import { modelOf, type Errand } from "./model.ts";

export async function openRealFleet(errands: readonly Errand[]) {
  const owned = new DisposeStack();
  const folder = owned.use(await temporaryFolder());
  const repository = owned.use(await temporaryRepository({ "README.md": "# hello\n" }));
  const root = await realpath(repository.path);
  const model = owned.use(await startModelServer(modelOf(errands, programs, root)));
  const home = join(folder.path, "home");
  await mkdir(home);
  const place = { home, cwd: root, modelUrl: model.url };
  const [claude, codex] = [await programs.claude.prepare(place), await programs.codex.prepare(place)];
  const variable = `FLEET_HOME=${folder.path}`;
  const env = { ...claude.env, ...codex.env, FLEET_HOME: folder.path };
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(
    userConfigFile(env),
    `[defaults]\nmax_running = 2\n[agents.claude]\n${claude.toml}\n[agents.codex]\n${codex.toml}\n`,
  );
  owned.defer(() => killAllWith(variable));
  const server = owned.use(await fleetServer({ cwd: folder.path, env }));
  await server.start();
  const client = createClient(server);
  return {
    ...server,
    repository,
    root,
    model,
    client,
    tasks: remoteTasks(client),
    processes: () => processesWith(variable),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
