/** Sends requests that change something, each once, although the server may die or restart in between. */
import { errorOf, RookeryError } from "../../src/client/index.ts";

const FIRST_RETRY_MS = 300;
const MAX_RETRY_MS = 5_000;
/** How long the same request is repeated. */
const MAX_TOTAL_MS = 60_000;

export interface IdempotencyHeader {
  readonly "Idempotency-Key": string;
}

export interface SendResult<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Repeats the request with the same key until the server has answered. Rejects with the error of the server, or with
 * `server_unreachable`; then the same key makes another attempt safe.
 */
export async function sendOnce<T>(
  key: string,
  send: (header: IdempotencyHeader) => Promise<SendResult<T>>,
  onRetry: () => void = () => undefined,
): Promise<T> {
  let startedAt = Date.now();
  for (let delay = FIRST_RETRY_MS; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
    const result = await send({ "Idempotency-Key": key }).catch(() => undefined); // no connection
    if (result?.data !== undefined && !isPending(result.data)) return result.data;
    if (result?.data !== undefined) startedAt = Date.now(); // the server works on it
    const isLate = Date.now() - startedAt > MAX_TOTAL_MS;
    if (result !== undefined && result.data === undefined && (isLate || result.response.status !== 503)) {
      throw errorOf(result.error, result.response.status);
    }
    if (isLate) throw new RookeryError("server_unreachable", "The server does not answer. Nothing is lost: try again.");
    onRetry();
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

function isPending(data: unknown): boolean {
  return typeof data === "object" && data !== null && "pending" in data;
}
