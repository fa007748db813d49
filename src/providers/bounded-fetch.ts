/** `fetch` for model APIs: bounds what an endless or broken response can hold in memory. */
import { ProviderError } from "./provider-error.ts";

/** In bytes, after decompression. */
export interface ResponseLimits {
  /** One event of a stream: some APIs repeat the whole reply in the last one. */
  readonly event: number;
  /** A whole stream. Each piece of a few characters comes in an event of some hundred bytes. */
  readonly stream: number;
  /** The body of an error. The rest is cut off: the status and the beginning say what is wrong. */
  readonly error: number;
  /** For the body of an error to come, in milliseconds. */
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
 * Does not follow redirects, because fetch would take the headers with the key in them along to another server. A
 * stream that passes a limit fails with a `provider_failed` that is not worth another attempt.
 */
export function boundedFetch(
  limits: ResponseLimits = RESPONSE_LIMITS,
  fetch: Fetch = (...asked) => globalThis.fetch(...asked),
): Fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const bounded = response.ok ? wholeLines(body, limits) : truncated(body, limits);
    return new Response(bounded, { status, statusText, headers });
  };
}

/**
 * Passes an event stream on in pieces that end with a line. A parser would otherwise scan an incomplete
 * line again for each piece of it.
 */
function wholeLines(body: Body, { event, stream }: ResponseLimits): Body {
  const reader = body.getReader();
  let incomplete: Uint8Array<ArrayBuffer>[] = [];
  const scanner = new EventScanner();
  let streamBytes = 0;
  const read = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return incomplete.length === 0 ? undefined : take();
      streamBytes += value.length;
      if (streamBytes > stream) throw tooLong(`a reply of more than ${shownSize(stream)}`);
      const end = scanner.scan(value);
      if (scanner.eventBytes > event) throw tooLong(`one event of more than ${shownSize(event)} in its reply`);
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

/** Finds lines in the bytes of an event stream, which end with LF, CR or both, and events, which end with a blank line. */
class EventScanner {
  #lineBytes = 0;
  #previous = 0;
  /** Of the event that has not ended yet. */
  eventBytes = 0;

  /** Returns where the last whole line of the chunk ends, 0 if none does. */
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

/** Ends where the limit is, as if the body ended there. */
function truncated(body: Body, { error: limit, errorMs }: ResponseLimits): Body {
  const reader = body.getReader();
  const deadline = performance.now() + errorMs;
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<{ done: true; value?: undefined }>((resolve) => {
        timer = setTimeout(() => resolve({ done: true }), Math.max(0, deadline - performance.now()));
      });
      const { done, value } = await Promise.race([reader.read(), timeout]).finally(() => clearTimeout(timer));
      if (!done && value !== undefined) controller.enqueue(value.subarray(0, limit - bytes));
      bytes += value?.length ?? 0;
      if (!done && bytes < limit) return;
      controller.close();
      reader.cancel().catch(() => undefined);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function tooLong(what: string): ProviderError {
  const fix = "check that its address is that of a model API, or ask for less at once";
  return new ProviderError("provider_failed", `the provider sent ${what}, and was cut off: ${fix}`);
}

function shownSize(bytes: number): string {
  return bytes >= MB ? `${Math.floor(bytes / MB)} MB` : `${bytes} bytes`;
}
