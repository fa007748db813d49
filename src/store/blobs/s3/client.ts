/**
 * Sends signed requests to one bucket. Every response is bounded in bytes and time; transient failures are retried;
 * redirects are not followed, because that would show a signature to another server.
 */
import { RookeryError } from "../../../domain/index.ts";
import { abortableSleep } from "../../../stdx/wait.ts";
import {
  isTransientConnectionError,
  isTransientRefusal,
  readRefusal,
  toConnectionError,
  toRefusalError,
  type S3Refusal,
} from "./errors.ts";
import { describeS3, toObjectUrl, type S3Location } from "./location.ts";
import { TransferDeadline, type TransferLimits } from "./transfer-deadline.ts";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface S3ClientOptions {
  readonly location: S3Location;
  /** Called before each request, so that credentials can be rotated. Undefined if there are none. */
  readonly readCredentials: () => Promise<S3Credentials | undefined>;
  readonly limits?: Partial<S3Limits> | undefined;
}

export interface S3Limits extends TransferLimits {
  /** The number of retries after the first attempt. */
  readonly retries: number;
  /** Doubles before each further retry. */
  readonly firstDelayMs: number;
  /** No retry starts later than this after the first attempt. */
  readonly retryWindowMs: number;
}

const LIMITS: S3Limits = {
  startMs: 15_000,
  bytesPerSecond: 256 * 1024,
  retries: 4,
  firstDelayMs: 250,
  retryWindowMs: 30_000,
};

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly key: string;
  readonly body?: Uint8Array<ArrayBuffer> | undefined;
  /** The SHA-256 of the body in hexadecimal digits. The server verifies it. */
  readonly bodyHash: string;
  /** The maximum size of a successful response's body. */
  readonly maxBytes: number;
}

/** A response with a status from 200 to 299. */
export interface S3Answer {
  readonly headers: Headers;
  /** Undefined if it is larger than `maxBytes`. */
  readonly body: Uint8Array | undefined;
}

/** The SHA-256 of no bytes. */
export const EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Enough of an error document to find its code. */
const MAX_DOCUMENT_BYTES = 64 * 1024;

export class S3Client {
  readonly where: string;
  readonly #location: S3Location;
  readonly #readCredentials: S3ClientOptions["readCredentials"];
  readonly #limits: S3Limits;

  constructor({ location, readCredentials, limits }: S3ClientOptions) {
    this.#location = location;
    this.#readCredentials = readCredentials;
    this.#limits = { ...LIMITS, ...limits };
    this.where = describeS3(location);
  }

  /**
   * Resolves with the response, or with a refusal that a retry would not change. Rejects with `config_invalid` if there
   * are no credentials, with a `store_*` error after the last retry, or with the reason of the signal.
   */
  async send(request: S3Request, signal: AbortSignal): Promise<S3Answer | S3Refusal> {
    const { retries, firstDelayMs, retryWindowMs } = this.#limits;
    const started = performance.now();
    for (let failures = 0; ; failures += 1) {
      const result = await this.#attempt(request, signal);
      if (!(result instanceof TransientFailure)) return result;
      const delay = firstDelayMs * 2 ** failures * (0.5 + Math.random() / 2);
      const isLate = performance.now() - started + delay > retryWindowMs;
      if (failures >= retries || isLate) throw result.error;
      await abortableSleep(delay, signal);
    }
  }

  async #attempt(request: S3Request, signal: AbortSignal): Promise<S3Answer | S3Refusal | TransientFailure> {
    signal.throwIfAborted();
    const { url, headers } = await this.#sign(request);
    using deadline = new TransferDeadline(this.#limits, signal, request.body?.byteLength);
    try {
      const { method, body = null } = request;
      const response = await fetch(url, { method, headers, body, redirect: "manual", signal: deadline.signal });
      if (response.ok) return { headers: response.headers, body: await readBody(response, request.maxBytes, deadline) };
      const document = await readBody(response, MAX_DOCUMENT_BYTES, deadline, "cut");
      const refusal = readRefusal(response, new TextDecoder().decode(document));
      return isTransientRefusal(refusal) ? new TransientFailure(toRefusalError(refusal, this.where)) : refusal;
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.isLate) return new TransientFailure(this.#toTimeoutError(deadline));
      const failure = toConnectionError(error, this.where);
      if (isTransientConnectionError(error)) return new TransientFailure(failure);
      throw failure;
    }
  }

  async #sign({ method, key, bodyHash }: S3Request): Promise<{ url: URL; headers: Headers }> {
    const credentials = await this.#readCredentials();
    if (credentials === undefined) {
      const fix = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or [blobs] credentials_file";
      throw new RookeryError("config_invalid", `there are no credentials for ${this.where}: ${fix}`);
    }
    const { AwsV4Signer } = await import("aws4fetch"); // loaded only when it is used
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const signer = new AwsV4Signer({
      method,
      url: toObjectUrl(this.#location, key),
      headers: { "x-amz-content-sha256": bodyHash },
      service: "s3",
      region: this.#location.region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    });
    const { url, headers } = await signer.sign();
    headers.set("accept-encoding", "identity"); // unsigned, because proxies change it
    if (method === "PUT") headers.set("content-type", "application/octet-stream");
    return { url, headers };
  }

  #toTimeoutError({ seconds, bytes }: TransferDeadline): RookeryError {
    const what = bytes === 0 ? "did not answer" : `sent ${bytes} bytes and did not finish`;
    const message = `${this.where} ${what} within ${seconds.toFixed(1)} s: check the server and the network`;
    return new RookeryError("store_unavailable", message);
  }
}

/** A failure that a retry may repair. */
class TransientFailure {
  constructor(readonly error: RookeryError) {}
}

async function readBody(
  response: Response,
  maxBytes: number,
  deadline: TransferDeadline,
  ifLarger: "omit" | "cut" = "omit",
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body === null) return new Uint8Array();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    deadline.add(chunk.byteLength);
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size > maxBytes) {
      if (ifLarger === "omit") return undefined; // leaving the loop closes the connection
      break;
    }
  }
  return new Uint8Array(Buffer.concat(chunks).subarray(0, maxBytes));
}
