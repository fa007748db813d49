/** Opens Rookery on a temporary repository whose agents are shell scripts. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { vi, expect } from "vitest";
import { trust, userConfigFile } from "../config/index.ts";
import type { TaskStatus, TaskView } from "../domain/index.ts";
import { Rookery } from "../rookery.ts";
import { DisposeStack } from "../stdx/index.ts";
import { builtEnvironment, temporaryFolder, temporaryRepository } from "../testing/index.ts";

/** Runs the lines of the prompt that start with `run:` and ignores the rest. This includes resume prompts. */
const AGENT = `printf '%s\\n' "$1" | sed -n 's/^run: //p' > "$TMPDIR/script.$$"; sh "$TMPDIR/script.$$"`;

export interface SceneOptions {
  /** Added to `rookery.toml`, which defines the agents. */
  readonly toml?: string;
  /** The content of the user's configuration file. */
  readonly user?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openScene({ toml = "", user = "", files = {}, env: extra = {} }: SceneOptions = {}) {
  const owned = new DisposeStack();
  const repository = owned.use(await temporaryRepository({ "README.md": "hello\n", "agent.sh": AGENT, ...files }));
  const folder = owned.use(await temporaryFolder());
  const home = join(folder.path, "state");
  const env = builtEnvironment({
    home: folder.path,
    extra: { ROOKERY_HOME: home, TMPDIR: folder.path, GIT_CONFIG_GLOBAL: "/dev/null", ...extra },
  });
  const agent = (name: string) =>
    `[agents.${name}]\nbackend = "command"\ncommand = ["sh", ${JSON.stringify(join(repository.path, "agent.sh"))}, "{prompt}"]\n`;
  await writeFile(join(repository.path, "rookery.toml"), `${agent("robin")}${agent("wren")}${toml}`);
  await mkdir(dirname(userConfigFile(env)), { recursive: true });
  await writeFile(userConfigFile(env), user);
  await trust(repository.path, env);
  const open = async () => owned.use(await Rookery.open({ env, cwd: repository.path }));
  const rookery = await open();
  const stopping = new AbortController();
  return {
    repository,
    folder: folder.path,
    home,
    env,
    rookery,
    tasks: rookery.tasks,
    /** Opens Rookery once more, like another process. */
    open,
    /** Runs queued tasks until the scene is disposed. */
    run: () => void rookery.runTasks({ signal: stopping.signal }).catch(() => undefined),
    /** Waits until the task has one of these statuses. */
    until: (id: string, ...statuses: TaskStatus[]) => until(rookery, id, statuses),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await owned[Symbol.asyncDispose]();
    },
  };
}

async function until(rookery: Rookery, id: string, statuses: readonly TaskStatus[]): Promise<TaskView> {
  return vi.waitFor(
    async () => {
      const view = await rookery.tasks.show(id);
      expect(statuses, `${id} is ${view.status}: ${view.message ?? ""}`).toContain(view.status);
      return view;
    },
    { timeout: 20_000, interval: 20 },
  );
}
