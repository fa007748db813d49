/** Keeps blobs as objects of an S3-compatible bucket, and verifies everything that it returns. */
import { createHash, randomBytes } from "node:crypto";
import { RookeryError, type BlobRef } from "../../../domain/index.ts";
import { MAX_BLOB_BYTES, nameBlob } from "../../blob.ts";
import type { BlobStorage } from "../storage.ts";
import { EMPTY_HASH, S3Client, type S3Answer, type S3ClientOptions } from "./client.ts";
import { toRefusalError, type S3Refusal } from "./errors.ts";

/** The body of a response whose content does not matter. */
const MAX_IGNORED_BYTES = 64 * 1024;
const PROBE_BYTES = 1_024;

export class S3BlobStorage implements BlobStorage {
  readonly #client: S3Client;

  /** Connects to nothing. */
  constructor(options: S3ClientOptions) {
    this.#client = new S3Client(options);
  }

  /** Checks the size afterwards, because a server that is not S3 may accept everything. */
  async put(ref: BlobRef, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    await this.#putObject(toKey(ref.hash), bytes, signal);
    const head = { method: "HEAD", key: toKey(ref.hash), bodyHash: EMPTY_HASH, maxBytes: MAX_IGNORED_BYTES } as const;
    const found = await this.#client.send(head, signal);
    if (!isAnswer(found) && found.status !== 404) throw toRefusalError(found, this.#client.where);
    const size = isAnswer(found) ? (found.headers.get("content-length") ?? "unknown") : undefined;
    if (size === String(ref.size)) return;
    const has = size === undefined ? "does not have it" : `has one with a size of ${size} bytes`;
    const message = `${this.#client.where} accepted ${describeBlob(ref)} but ${has}: check that the endpoint speaks S3`;
    throw new RookeryError("store_unavailable", message);
  }

  async get(hash: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const bytes = await this.#getObject(toKey(hash), signal);
    if (bytes === undefined) return undefined;
    const found = nameBlob(bytes);
    if (found.hash === hash) return bytes;
    const problem = `the object of blob ${hash} in ${this.#client.where} has ${found.size} bytes with a different hash`;
    throw new RookeryError("log_corrupt", `${problem}: restore the object, or check that the endpoint speaks S3`);
  }

  /** Puts, gets and deletes an object. Rejects like `put` and `get`. */
  async probe(signal: AbortSignal): Promise<S3ProbeReport> {
    const started = performance.now();
    const bytes = randomBytes(PROBE_BYTES);
    const key = `doctor/${randomBytes(8).toString("hex")}`;
    await this.#putObject(key, bytes, signal);
    const read = await this.#getObject(key, signal);
    if (read === undefined || !bytes.equals(read)) {
      const problem = `${this.#client.where} returned different bytes than it had received`;
      throw new RookeryError("store_unavailable", `${problem}: check that the endpoint in [blobs] url speaks S3`);
    }
    const deletion = { method: "DELETE", key, bodyHash: EMPTY_HASH, maxBytes: MAX_IGNORED_BYTES } as const;
    const isDeleted = isAnswer(await this.#client.send(deletion, signal));
    return { where: this.#client.where, latency: performance.now() - started, remaining: isDeleted ? undefined : key };
  }

  async #putObject(key: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    const bodyHash = createHash("sha256").update(body).digest("hex");
    const put = { method: "PUT", key, body, bodyHash, maxBytes: MAX_IGNORED_BYTES } as const;
    const result = await this.#client.send(put, signal);
    if (!isAnswer(result)) throw toRefusalError(result, this.#client.where);
  }

  async #getObject(key: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const get = { method: "GET", key, bodyHash: EMPTY_HASH, maxBytes: MAX_BLOB_BYTES } as const;
    const result = await this.#client.send(get, signal);
    if (isAnswer(result)) return result.body ?? this.#refuseOversized(key);
    if (result.code === "NoSuchKey") return undefined;
    throw toRefusalError(result, this.#client.where);
  }

  #refuseOversized(key: string): never {
    const problem = `the object ${key} in ${this.#client.where} is larger than 64 MB, the maximum size of a blob`;
    throw new RookeryError("log_corrupt", `${problem}: restore the object, or check that the endpoint speaks S3`);
  }
}

export interface S3ProbeReport {
  /** The bucket and the server. */
  readonly where: string;
  /** The duration of the three requests in milliseconds. */
  readonly latency: number;
  /** The key of the object, if it could not be deleted. Only this check deletes objects. */
  readonly remaining: string | undefined;
}

/** `sha256:HEX` as `sha256/HEX`. */
function toKey(hash: string): string {
  return hash.replace(":", "/");
}

function describeBlob({ hash, size }: BlobRef): string {
  return `blob ${hash} of ${size} bytes`;
}

function isAnswer(result: S3Answer | S3Refusal): result is S3Answer {
  return "headers" in result;
}
