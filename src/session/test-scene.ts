/** The scene of the session tests: a scripted model, a store, two folders and a session on them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RookeryError, type Store } from "../domain/index.ts";
import { Rookery, type OpenSessionOptions } from "../rookery.ts";
import { DisposeStack, systemClock, type Clock } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, startModelServer, temporaryFolder, transcript, type Script } from "../testing/index.ts";

/** Past every lease of a process that is only played dead. */
export const LATER: Clock = { now: () => Date.now() + 60_000 };

/** Lets `commits` appends through and then behaves like a process that was killed: nothing more is ever written. */
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
 * Holds leases under a name that nobody can judge, as a process on another machine does: it can be played dead, and its
 * leases end with their time.
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

/** Nothing is open yet: what drives a session in it comes and goes. */
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
    /** What `open` opens Rookery with, for whoever wants more of it. */
    options: { env, cwd: cwd.path, store },
    /** What the user has in their own configuration from now on. */
    configure: async (toml: string) => {
      const folder = join(home.path, ".config", "rookery");
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "rookery.toml"), toml);
    },
    /** Empty where there is none. */
    file: (name: string) => readFile(join(cwd.path, name), "utf8").catch(() => ""),
    /** Another process, as it were; through another store, if it is to die in the middle. */
    open: (clock: Clock = systemClock, through: Store = store) =>
      Rookery.open({ env, cwd: cwd.path, store: elsewhere(through), clock }),
    events: async (sessionId: string) => (await store.read({ sessionId, limit: 10_000 })).events,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export async function openScene(script: Script, options: OpenSessionOptions = {}, store?: Store) {
  const world = await openWorld(script, store);
  const rookery = await world.open();
  world.owned.defer(() => rookery.close().catch(() => undefined)); // some tests break its log on purpose
  const session = await rookery.openSession(options);
  return { ...world, rookery, session, lines: async () => transcript(await world.events(session.id)) };
}
