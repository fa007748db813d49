// Opens the store of a benchmark: the URL of a PostgreSQL server, or the path of an SQLite file.
import { openPostgresStore, openSqliteStore } from "../../dist/index.js";

export function openBenchStore(place) {
  return place.startsWith("postgres:")
    ? openPostgresStore({ url: place, schema: "bench" })
    : openSqliteStore({ path: place });
}

/** Closes the store after the work. */
export async function withBenchStore(place, work) {
  const store = await openBenchStore(place);
  try {
    return await work(store);
  } finally {
    await store[Symbol.asyncDispose]();
  }
}
