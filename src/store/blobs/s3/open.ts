/** Connects a store with the S3-compatible storage of its large blobs. */
import type { Store } from "../../../domain/index.ts";
import { withBlobStorage, type BlobStorageLimits } from "../storage.ts";
import type { S3Credentials, S3Limits } from "./client.ts";
import { parseS3Url } from "./location.ts";
import { S3BlobStorage, type S3ProbeReport } from "./storage.ts";

export interface S3BlobOptions extends BlobStorageLimits {
  /** `s3://bucket/prefix?endpoint=https://…&region=…&path_style=true`. */
  readonly url: string;
  /** The region for a URL without one. Default: `us-east-1`. */
  readonly region?: string | undefined;
  /** Called before each request. Undefined if there are none, which is an error only when a large blob is used. */
  readonly readCredentials: () => Promise<S3Credentials | undefined>;
}

/**
 * Returns a function that gives a store this storage for its large blobs. Connects to nothing before the first one.
 * Throws `config_invalid` for a wrong URL.
 */
export function connectS3Blobs(options: S3BlobOptions): (store: Store) => Store {
  const storage = openS3(options);
  return (store) => withBlobStorage(store, storage, options);
}

/** Puts, gets and deletes an object. Rejects with `config_invalid` or a `store_*` error. */
export async function probeS3Blobs(options: S3BlobOptions, signal: AbortSignal): Promise<S3ProbeReport> {
  return openS3(options, PROBE_LIMITS).probe(signal);
}

/** A person waits for the result. */
const PROBE_LIMITS = { startMs: 5_000, retries: 1 };

function openS3({ url, region, readCredentials }: S3BlobOptions, limits?: Partial<S3Limits>): S3BlobStorage {
  return new S3BlobStorage({ location: parseS3Url(url, region), readCredentials, limits });
}
