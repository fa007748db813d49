/** A second place for blobs that are too large for the database. */
import { setMaxListeners } from "node:events";
import { bytesArgument, checkArgument, RookeryError, type BlobRef, type Store } from "../../domain/index.ts";
import { nameBlob } from "../blob.ts";
import { RecentBlobs } from "./recent-blobs.ts";

/** Storage of blobs by their hash. Both methods reject with the reason of the signal if it fires first. */
export interface BlobStorage {
  /**
   * Resolves when the blob is durable. Safe to repeat. The caller must not change the bytes until then. Rejects with
   * `config_invalid` or a `store_*` error.
   */
  put(ref: BlobRef, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void>;
  /**
   * Returns bytes that match the hash, or undefined if there is no such blob. Rejects with `config_invalid`, a
   * `store_*` error, or `log_corrupt` if the stored bytes do not match.
   */
  get(hash: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

export interface BlobStorageLimits {
  /** Blobs with more bytes are in the storage. */
  readonly over: number;
  /** How many bytes of blobs from the storage the process remembers. Default: 32 MB. */
  readonly cacheBytes?: number | undefined;
}

const CACHE_BYTES = 32 * 1024 * 1024;

/**
 * The same store, with large blobs in the storage. Reads ask the database first, so blobs from before the storage was
 * configured, or from before `over` changed, are still found. `store` must not need `this`, as the result of
 * `withCheckedArguments`.
 */
export function withBlobStorage(store: Store, storage: BlobStorage, limits: BlobStorageLimits): Store {
  const { over, cacheBytes = CACHE_BYTES } = limits;
  const recent = new RecentBlobs(cacheBytes);
  const closed = new AbortController();
  setMaxListeners(0, closed.signal); // one per blob that is transferred
  return {
    ...store,

    async putBlob(bytes) {
      checkArgument(bytes, bytesArgument, "the blob");
      if (bytes.byteLength <= over) return store.putBlob(bytes);
      closed.signal.throwIfAborted();
      const ref = nameBlob(bytes);
      const kept = Uint8Array.from(bytes); // the caller may change its bytes meanwhile
      await storage.put(ref, kept, closed.signal);
      recent.add(ref.hash, kept);
      return ref;
    },

    async getBlob(hash) {
      const stored = await store.getBlob(hash);
      if (stored !== undefined || !/^sha256:[0-9a-f]{64}$/.test(hash)) return stored;
      const bytes = recent.get(hash) ?? (await storage.get(hash, closed.signal));
      if (bytes === undefined) return undefined;
      recent.add(hash, bytes);
      return Uint8Array.from(bytes); // the caller may change them
    },

    async [Symbol.asyncDispose]() {
      closed.abort(new RookeryError("store_closed", "the store is closed: open it again"));
      await store[Symbol.asyncDispose]();
    },
  };
}
