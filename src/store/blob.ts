/** Names of blobs: what they are called follows from what is in them. */
import { createHash } from "node:crypto";
import { RookeryError, type BlobRef } from "../domain/index.ts";

/** A blob is written in one transaction, which nobody else can write during. */
export const MAX_BLOB_BYTES = 64 * 1024 * 1024;

export function nameBlob(bytes: Uint8Array): BlobRef {
  if (bytes.byteLength > MAX_BLOB_BYTES) {
    const size = `${Math.ceil(bytes.byteLength / 1e6)} MB`;
    throw new RookeryError("input_too_large", `a blob of ${size}: at most 64 MB are kept; make it smaller`);
  }
  return { hash: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, size: bytes.byteLength };
}
