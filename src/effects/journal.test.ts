import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { newId, type Store } from "../domain/index.ts";
import { loadState } from "../session/index.ts";
import { Recorder } from "../session/recorder.ts";
import { systemClock } from "../stdx/index.ts";
import { openMemoryStore, openPostgresStore, openSqliteStore } from "../store/index.ts";
import { hasTestPostgres, testSchemas } from "../store/postgres/fixtures/schemas.ts";
import { STORE_FAILURE, DEFAULT_TURN_ID } from "./contract/fixture.ts";
import { effectContract, type EffectFixture } from "./contract.ts";
import { journalHost } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "rookery-effects-"));
let databases = 0;
const schemas = testSchemas();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stores: [string, () => Promise<Store>][] = [
  ["memory", async () => openMemoryStore()],
  ["SQLite", () => openSqliteStore({ path: join(folder, `${(databases += 1)}.db`) })],
];
if (hasTestPostgres) stores.push(["PostgreSQL", async () => openPostgresStore(await schemas.emptied())]);

describe.each(stores)("journal host with the recorder of a session, on the %s store", (_, openStore) => {
  it.each(effectContract)("$name", async ({ run }) => run(async () => openFixture(await openStore())));
});

async function openFixture(store: Store): Promise<EffectFixture> {
  const sessionId = newId("ses");
  const opened = { type: "session.opened" as const, agent: "a", cwd: "/", backend: "api", permissions: "ask" as const };
  const at = new Date().toISOString();
  await store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [{ ...opened, at }] });
  return {
    sessionId,
    async host({ turnId = DEFAULT_TURN_ID, commits = Infinity } = {}) {
      const state = await loadState(store, sessionId);
      const recorder = new Recorder({
        store: limitAppends(store, commits),
        state,
        fence: undefined,
        clock: systemClock,
      });
      return journalHost(await store.journal(sessionId, turnId), {
        commit: async (events, writes) => {
          recorder.record(events, turnId, writes);
          await recorder.commit();
        },
      });
    },
    recorded: async () => (await store.read({ sessionId, after: 1, limit: 10_000 })).events,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Wraps a store so that it accepts `commits` appends and rejects all later ones. */
function limitAppends(store: Store, commits: number): Store {
  let left = commits;
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "append" && (left -= 1) < 0) return Promise.reject(STORE_FAILURE);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}
