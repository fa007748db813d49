/** Several hosts that share one store and a remote, each with its own home. Their agents are shell scripts. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { userConfigFile } from "../../config/index.ts";
import type { Store, TaskStatus, TaskView } from "../../domain/index.ts";
import { Rookery, type RookeryOptions } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import {
  builtEnvironment,
  temporaryFolder,
  temporaryRepository,
  type TemporaryRepository,
} from "../../testing/index.ts";

import { takeEveryTask } from "./test-placement.ts";

const IDENTITY = "[user]\n\tname = Rookery Test\n\temail = test@rookery.invalid\n";
/** Runs the lines of the prompt that start with `run:` and ignores the rest. Works for resume prompts too. */
const AGENT = `printf '%s\\n' "$1" | sed -n 's/^run: //p' > "$TMPDIR/script.$$"; sh "$TMPDIR/script.$$"`;

export interface PoolHost {
  readonly name: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly rookery: Rookery;
  /** Runs queued tasks, including those of other hosts, until the returned function is called. */
  run(only?: string): () => Promise<void>;
  /** Opens Rookery once more, like another process on this host. */
  open(options?: Partial<RookeryOptions>): Promise<Rookery>;
}

export interface HostsScene extends AsyncDisposable {
  /** The clone of a person who starts tasks. */
  readonly user: TemporaryRepository;
  readonly remote: string;
  readonly folder: string;
  readonly store: Store;
  remoteGit(...args: string[]): Promise<string>;
  /** `toml`: added to its configuration. */
  host(name: string, toml?: string, options?: Partial<RookeryOptions>): Promise<PoolHost>;
  /** Waits until the task has one of these statuses, as the host that was opened last sees it. */
  until(id: string, ...statuses: TaskStatus[]): Promise<TaskView>;
}

export interface HostsOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** Added to the configuration of each host. */
  readonly toml?: string;
  readonly store?: Store;
}

export async function openHosts({ files = {}, toml = "", store: givenStore }: HostsOptions = {}): Promise<HostsScene> {
  const owned = new DisposeStack();
  const folder = owned.use(await temporaryFolder());
  const user = owned.use(await temporaryRepository({ "README.md": "hello\n", ...files }));
  const remote = join(folder.path, "project.git");
  await user.git("clone", "--quiet", "--bare", user.path, remote);
  await user.git("remote", "add", "origin", remote);
  await user.git("fetch", "--quiet", "origin");
  const store = givenStore ?? owned.use(openMemoryStore());
  const script = join(folder.path, "agent.sh");
  await writeFile(script, AGENT);
  const stops: (() => Promise<void>)[] = [];
  let newest: Rookery | undefined;
  const host = async (name: string, more = "", given: Partial<RookeryOptions> = {}): Promise<PoolHost> => {
    const root = join(folder.path, name);
    const home = join(root, "state");
    const extra = { ROOKERY_HOME: home, TMPDIR: root, GIT_CONFIG_GLOBAL: join(root, "gitconfig") };
    const env = builtEnvironment({ home: root, extra });
    await mkdir(dirname(userConfigFile(env)), { recursive: true });
    await writeFile(extra.GIT_CONFIG_GLOBAL, IDENTITY);
    const agents = `[agents.robin]\nbackend = "command"\ncommand = ["sh", ${JSON.stringify(script)}, "{prompt}"]\n`;
    await writeFile(userConfigFile(env), `${agents}${toml}${more}`);
    const open = async (options: Partial<RookeryOptions> = {}) =>
      owned.use(await Rookery.open({ env, cwd: user.path, store, host: name, ...given, ...options }));
    const rookery = await open();
    newest = rookery;
    const run = (only?: string) => {
      const stopping = new AbortController();
      const placement = () => takeEveryTask(name);
      const running = rookery.runTasks({ signal: stopping.signal, placement, ...(only !== undefined && { only }) });
      const stop = async (): Promise<void> => {
        stopping.abort();
        await running.catch(() => undefined);
      };
      stops.push(stop);
      return stop;
    };
    return { name, root, env, rookery, run, open };
  };
  return {
    user,
    remote,
    folder: folder.path,
    store,
    remoteGit: (...args) => user.git(`--git-dir=${remote}`, ...args),
    host,
    until: (id, ...statuses) => until(newest, id, statuses),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await owned[Symbol.asyncDispose]();
    },
  };
}

async function until(rookery: Rookery | undefined, id: string, statuses: readonly TaskStatus[]): Promise<TaskView> {
  return vi.waitFor(
    async () => {
      const view = await rookery?.tasks.show(id);
      expect(statuses, `${id} is ${view?.status}: ${view?.message ?? ""}`).toContain(view?.status);
      if (view === undefined) throw new Error("open a host first");
      return view;
    },
    { timeout: 60_000, interval: 20 },
  );
}
