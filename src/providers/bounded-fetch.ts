/** `fetch` for model APIs that limits how much memory an endless or broken response can use. */
import { raceTimeout } from "../stdx/wait.ts";
import { ProviderError } from "../domain/provider-error.ts";

/** Limits in bytes after decompression, and one in milliseconds. */
export interface ResponseLimits {
  /** Size of one stream event. Some APIs repeat the whole reply in the last event. */
  readonly event: number;
  /** Size of a whole stream. Every few characters of text take an event of some hundred bytes. */
  readonly stream: number;
  /** Size of an error body. The rest is dropped, because the status and the beginning are enough. */
  readonly error: number;
  /** Time to wait for an error body, in milliseconds. */
  readonly errorMs: number;
}

const MB = 1024 * 1024;
export const RESPONSE_LIMITS: ResponseLimits = {
  event: 16 * MB,
  stream: 512 * MB,
  error: 256 * 1024,
  errorMs: 10_000,
};

type Fetch = typeof globalThis.fetch;
type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Wraps `fetch`. It does not follow redirects, because that would send the API key to another server. A stream that
 * exceeds a limit fails with `provider_failed`, without a retry.
 */
export function boundedFetch(
  limits: ResponseLimits = RESPONSE_LIMITS,
  fetch: Fetch = (...asked) => globalThis.fetch(...asked),
): Fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const bounded = response.ok ? splitAtLines(body, limits) : truncateBody(body, limits);
    return new Response(bounded, { status, statusText, headers });
  };
}

/**
 * Re-chunks an event stream so that every piece ends with a line. Otherwise a parser scans an incomplete line again for
 * each piece.
 */
function splitAtLines(body: Body, { event, stream }: ResponseLimits): Body {
  const reader = body.getReader();
  let incomplete: Uint8Array<ArrayBuffer>[] = [];
  const scanner = new EventScanner();
  let streamBytes = 0;
  const read = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return incomplete.length === 0 ? undefined : take();
      streamBytes += value.length;
      if (streamBytes > stream) throw tooLongError(`a reply larger than ${formatByteLimit(stream)}`);
      const end = scanner.scan(value);
      if (scanner.eventBytes > event) throw tooLongError(`an event larger than ${formatByteLimit(event)}`);
      if (end === 0) {
        incomplete.push(value);
        continue;
      }
      incomplete.push(value.subarray(0, end));
      const lines = take();
      if (end < value.length) incomplete.push(value.subarray(end));
      return lines;
    }
  };
  const take = (): Uint8Array<ArrayBuffer> => {
    const [first] = incomplete;
    const bytes = incomplete.length === 1 && first !== undefined ? first : Buffer.concat(incomplete);
    incomplete = [];
    return bytes;
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const lines = await read();
        if (lines === undefined) controller.close();
        else controller.enqueue(lines);
      } catch (error) {
        incomplete = [];
        reader.cancel(error).catch(() => undefined);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const LF = 10;
const CR = 13;

/** Finds the ends of lines (LF, CR or CRLF) and of events (a blank line) in an event stream. */
class EventScanner {
  #lineBytes = 0;
  #previous = 0;
  /** Bytes of the current, unfinished event. */
  eventBytes = 0;

  /** Returns the offset after the last complete line of the chunk, or 0 if there is none. */
  scan(chunk: Uint8Array): number {
    let lineEnd = 0;
    let eventEnd = -1;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte !== LF && byte !== CR) {
        this.#lineBytes += 1;
      } else {
        const isSecondHalf = byte === LF && this.#previous === CR;
        if (this.#lineBytes === 0 && !isSecondHalf) eventEnd = at + 1;
        this.#lineBytes = 0;
        lineEnd = at + 1;
      }
      this.#previous = byte;
    }
    this.eventBytes = eventEnd < 0 ? this.eventBytes + chunk.length : chunk.length - eventEnd;
    return lineEnd;
  }
}

/** Ends the body at the size or time limit. */
function truncateBody(body: Body, { error: limit, errorMs }: ResponseLimits): Body {
  const reader = body.getReader();
  const deadline = performance.now() + errorMs;
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      const remainingMs = Math.max(0, deadline - performance.now());
      const { done, value } = (await raceTimeout(reader.read(), remainingMs)) ?? { done: true };
      if (!done && value !== undefined) controller.enqueue(value.subarray(0, limit - bytes));
      bytes += value?.length ?? 0;
      if (!done && bytes < limit) return;
      controller.close();
      reader.cancel().catch(() => undefined);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function tooLongError(what: string): ProviderError {
  const fix = "check that the base URL belongs to a model API, or ask for less at once";
  return new ProviderError("provider_failed", `the provider sent ${what}, so Rookery closed the connection: ${fix}`);
}

function formatByteLimit(bytes: number): string {
  return bytes >= MB ? `${Math.floor(bytes / MB)} MB` : `${bytes} bytes`;
}
