/** Contract of blobs: named by their content. */
import assert from "node:assert/strict";
import { largeStoreCase, storeCase, assertRejectsWith } from "./scene.ts";

export const blobCases = [
  storeCase("returns a blob by the hash of its bytes", async (store) => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    const ref = await store.putBlob(bytes);
    assert.match(ref.hash, /^sha256:[0-9a-f]{64}$/);
    assert.equal(ref.size, bytes.length);
    assert.deepEqual(Uint8Array.from((await store.getBlob(ref.hash)) ?? []), bytes);
    assert.deepEqual(await store.putBlob(bytes), ref);
    assert.notEqual((await store.putBlob(bytes.subarray(1))).hash, ref.hash);
  }),

  storeCase("stores an empty blob, and returns undefined for an unknown hash", async (store) => {
    const { hash } = await store.putBlob(new Uint8Array());
    assert.equal((await store.getBlob(hash))?.length, 0);
    assert.equal(await store.getBlob(`sha256:${"0".repeat(64)}`), undefined);
    assert.equal(await store.getBlob("nonsense"), undefined);
  }),

  storeCase("keeps a blob unchanged when the caller changes its bytes", async (store) => {
    const bytes = Uint8Array.of(1, 2, 3);
    const written = store.putBlob(bytes);
    bytes.fill(9);
    const { hash } = await written;
    (await store.getBlob(hash))?.fill(8);
    assert.deepEqual(Uint8Array.from((await store.getBlob(hash)) ?? []), Uint8Array.of(1, 2, 3));
  }),

  largeStoreCase("rejects a blob larger than 64 MB with input_too_large", async (store) => {
    await assertRejectsWith("input_too_large", store.putBlob(new Uint8Array(64 * 1024 * 1024 + 1)));
  }),
];
