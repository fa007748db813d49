/** Names schemas for the stores of tests, and opens stores in them. */
import { createHash, randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Store } from "../../../src/domain/index.ts";
import { openPostgresStore } from "../../../src/store/postgres/open.ts";

/** Set by `setup.ts` in test processes. Commands and other children get their server from the environment. */
const shared = globalThis as { rookeryTestPostgres?: string; rookeryTestStores?: Set<Store> };

/** The global setup drops the schemas of the run. */
const PREFIX = process.env["ROOKERY_TEST_SCHEMAS"] ?? "test_";

/** The variables with which a command opens the store that `openTestStore` opens for the path. */
export function storeVariables(path: string): Record<string, string> {
  return { ROOKERY_STORE_URL: testUrl(), ROOKERY_STORE_SCHEMA: schemaOf(path) };
}

/** A store that stays the same for a path, in all processes. A child process of a test has only one. */
export function openTestStore(path: string): Promise<Store> {
  return openSchema(process.env["ROOKERY_STORE_SCHEMA"] ?? schemaOf(path));
}

/** An empty store. */
export function openNewTestStore(): Promise<Store> {
  return openSchema(`${PREFIX}${randomBytes(8).toString("hex")}`);
}

/** Tests may leave stores open, because those that they replace hold nothing. */
export async function closeTestStores(): Promise<void> {
  const open = [...(shared.rookeryTestStores ?? [])];
  shared.rookeryTestStores?.clear();
  await Promise.all(open.map((store) => store[Symbol.asyncDispose]()));
}

async function openSchema(schema: string): Promise<Store> {
  const store = await openPostgresStore({ url: testUrl(), schema });
  (shared.rookeryTestStores ??= new Set()).add(store);
  return store;
}

/** Paths of tests are in temporary folders, so their schemas are unique too. */
function schemaOf(path: string): string {
  return `${PREFIX}${createHash("sha256").update(resolve(path)).digest("hex").slice(0, 16)}`;
}

function testUrl(): string {
  const url = shared.rookeryTestPostgres ?? process.env["ROOKERY_STORE_URL"];
  if (url === undefined) throw new Error("this process has no PostgreSQL server for tests");
  return url;
}
