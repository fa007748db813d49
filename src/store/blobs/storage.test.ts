import { expect, it } from "vitest";
import type { Store } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import { nameBlob } from "../blob.ts";
import { openMemoryStore } from "../memory.ts";
import { withBlobStorage, type BlobStorage } from "./storage.ts";

const SMALL = Uint8Array.of(1, 2, 3);
const LARGE = new Uint8Array(100).fill(7);

interface TestStorage extends BlobStorage {
  readonly blobs: Map<string, Uint8Array>;
  readonly asked: string[];
}

function memoryStorage(): TestStorage {
  const blobs = new Map<string, Uint8Array>();
  const asked: string[] = [];
  return {
    blobs,
    asked,
    async put({ hash }, bytes) {
      blobs.set(hash, bytes);
    },
    async get(hash) {
      asked.push(hash);
      return blobs.get(hash);
    },
  };
}

it("stores larger blobs in the storage only, and smaller ones in the database only", async () => {
  const [database, storage] = [openMemoryStore(), memoryStorage()];
  const store = withBlobStorage(database, storage, { over: 99, cacheBytes: 0 });
  const [small, large] = [await store.putBlob(SMALL), await store.putBlob(LARGE)];
  expect([small, large]).toEqual([nameBlob(SMALL), nameBlob(LARGE)]);
  expect([...storage.blobs.keys()]).toEqual([large.hash]);
  expect(await database.getBlob(large.hash)).toBeUndefined();
  expect(await database.getBlob(small.hash)).toEqual(SMALL);
  expect(await store.getBlob(large.hash)).toEqual(LARGE);
  expect(await store.getBlob(small.hash)).toEqual(SMALL);
  expect(storage.asked, "asks the storage only for what the database lacks").toEqual([large.hash]);
  await withBlobStorage(database, storage, { over: 100, cacheBytes: 0 }).putBlob(LARGE);
  expect(await database.getBlob(large.hash), "a blob of exactly the limit stays").toEqual(LARGE);
});

it("finds blobs from before the storage was configured, and after its limit changed", async () => {
  const [database, storage] = [openMemoryStore(), memoryStorage()];
  const { hash: before } = await database.putBlob(LARGE);
  expect(await withBlobStorage(database, storage, { over: 10, cacheBytes: 0 }).getBlob(before)).toEqual(LARGE);
  const { hash: after } = await withBlobStorage(database, storage, { over: 2, cacheBytes: 0 }).putBlob(SMALL);
  expect(await withBlobStorage(database, storage, { over: 1_000, cacheBytes: 0 }).getBlob(after)).toEqual(SMALL);
});

it("asks the storage only once for a blob that is used again, up to a maximum size", async () => {
  const storage = memoryStorage();
  const store = withBlobStorage(openMemoryStore(), storage, { over: 0, cacheBytes: 150 });
  const { hash } = await store.putBlob(LARGE);
  (await store.getBlob(hash))?.fill(0);
  expect(await store.getBlob(hash)).toEqual(LARGE);
  expect(storage.asked, "what was just put").toEqual([]);
  const { hash: other } = await store.putBlob(LARGE.subarray(1));
  await store.getBlob(hash);
  expect(storage.asked, "the other one has taken its place").toEqual([hash]);
  await store.getBlob(hash);
  await store.getBlob(other);
  expect(storage.asked).toEqual([hash, other]);
  const { hash: huge } = await store.putBlob(new Uint8Array(151));
  await store.getBlob(huge);
  await store.getBlob(other);
  expect(storage.asked, "a blob that does not fit displaces nothing").toEqual([hash, other, huge]);
});

it("does not ask the storage for a text that is not a hash", async () => {
  const storage = memoryStorage();
  const store = withBlobStorage(openMemoryStore(), storage, { over: 0, cacheBytes: 0 });
  for (const hash of ["nonsense", "sha256:../../etc", `sha256:${"A".repeat(64)}`, `sha256:${"0".repeat(65)}`]) {
    expect(await store.getBlob(hash)).toBeUndefined();
  }
  expect(storage.asked).toEqual([]);
});

it("rejects arguments of the wrong type with input_invalid", async () => {
  const store = withBlobStorage(openMemoryStore(), memoryStorage(), { over: 0, cacheBytes: 0 });
  for (const wrong of [null, undefined, 5, "text", [1], new ArrayBuffer(3)]) {
    await expect(store.putBlob(wrong as unknown as Uint8Array)).rejects.toMatchObject({ code: "input_invalid" });
  }
  await expect(store.getBlob(5 as unknown as string)).rejects.toMatchObject({ code: "input_invalid" });
});

it("rejects running transfers with store_closed when the store closes", async () => {
  const started = [deferred(), deferred()];
  const waits = (index: number) => (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      started[index]?.resolve();
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  const storage: BlobStorage = {
    put: (_ref, _bytes, signal) => waits(0)(signal),
    get: (_hash, signal) => waits(1)(signal),
  };
  const store: Store = withBlobStorage(openMemoryStore(), storage, { over: 0, cacheBytes: 0 });
  const running = Promise.allSettled([store.putBlob(SMALL), store.getBlob(nameBlob(SMALL).hash)]);
  await Promise.all(started.map(({ promise }) => promise));
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  const closed = { code: "store_closed" };
  expect(await running).toMatchObject([{ reason: closed }, { reason: closed }]);
  await expect(store.putBlob(SMALL)).rejects.toMatchObject(closed);
});
