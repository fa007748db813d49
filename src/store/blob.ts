/** Content-addressed names of blobs. */
import { createHash } from "node:crypto";
import { RookeryError, type BlobRef } from "../domain/index.ts";

/** Bounds the transaction that writes a blob, because it blocks all other writers. */
export const MAX_BLOB_BYTES = 64 * 1024 * 1024;

/** Returns the hash and size of a blob. Throws `input_too_large` above 64 MB. */
export function nameBlob(bytes: Uint8Array): BlobRef {
  if (bytes.byteLength > MAX_BLOB_BYTES) {
    const size = `${Math.ceil(bytes.byteLength / 1e6)} MB`;
    throw new RookeryError("input_too_large", `the blob has ${size} and the limit is 64 MB: make it smaller`);
  }
  return { hash: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, size: bytes.byteLength };
}
