/** Fixtures of the session tests: a scripted model, a store, two temporary directories and a session. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RookeryError, type Store } from "../domain/index.ts";
import { Rookery, type OpenSessionOptions } from "../rookery.ts";
import { DisposeStack, systemClock, type Clock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, transcript, type Script } from "../testing/index.ts";

/** A clock past the expiry of every lease, for processes that a test simulates as dead. */
export const LATER: Clock = { now: () => Date.now() + 60_000 };

/** Passes `commits` appends to the store, then behaves like a killed process: nothing more is written. */
export function dyingAfter(store: Store, commits: number): Store {
  let left = commits;
  const dead = () => new RookeryError("store_closed", "killed");
  return new Proxy(store, {
    get(target, name) {
      if (name === "append") {
        return (append: Parameters<Store["append"]>[0]) => {
          left -= 1;
          return left >= 0 ? target.append(append) : Promise.reject(dead());
        };
      }
      if (name === "delete") return () => Promise.reject(dead());
      if (name === "releaseLease" || name === Symbol.asyncDispose) return () => Promise.resolve();
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/**
 * Acquires leases under an owner that cannot be checked, like a process on another machine. A test can simulate its
 * death; its leases expire by time.
 */
function elsewhere(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "acquireLease") {
        return (request: Parameters<Store["acquireLease"]>[0]) =>
          target.acquireLease({ ...request, owner: `elsewhere-${request.owner}` });
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Opens the fixtures without a session. */
export async function openWorld(script: Script, store: Store = openMemoryStore()) {
  const owned = new DisposeStack();
  owned.use(store);
  const home = owned.use(await temporaryFolder());
  const cwd = owned.use(await temporaryFolder());
  const model = owned.use(await startModelServer(script));
  const env = { ...builtEnvironment({ home: home.path }), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };
  return {
    model,
    store,
    owned,
    home: home.path,
    /** The options that `open` uses, for tests that need more of them. */
    options: { env, cwd: cwd.path, store },
    /** Writes the user's configuration file. */
    configure: async (toml: string) => {
      const folder = join(home.path, ".config", "rookery");
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "rookery.toml"), toml);
    },
    /** Empty if the file does not exist. */
    file: (name: string) => readFile(join(cwd.path, name), "utf8").catch(() => ""),
    /** Simulates another process. Pass another store to make it die. */
    open: (clock: Clock = systemClock, through: Store = store) =>
      Rookery.open({ env, cwd: cwd.path, store: elsewhere(through), clock }),
    events: async (sessionId: string) => (await store.read({ sessionId, limit: 10_000 })).events,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export async function openScene(script: Script, options: OpenSessionOptions = {}, store?: Store) {
  const world = await openWorld(script, store);
  const rookery = await world.open();
  world.owned.defer(() => rookery.close().catch(() => undefined)); // some tests break the log on purpose
  const session = await rookery.openSession(options);
  return { ...world, rookery, session, lines: async () => transcript(await world.events(session.id)) };
}
