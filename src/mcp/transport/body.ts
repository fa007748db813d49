/** Bounds what a remote server sends: the body of an answer, or one event of a stream of them. */

/** A stream of events goes on for ever; anything else ends, and is bounded as a whole. */
export function bounded(response: Response, maxBytes: number, broke: (error: unknown) => void): Response {
  if (response.body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
  const limit = isStream ? wholeLines(maxBytes) : upTo(maxBytes);
  response.body.pipeTo(limit.writable).catch(broke);
  const body = limit.readable;
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  Object.defineProperty(copy, "url", { value: response.url });
  return copy;
}

export class TooLong extends Error {
  constructor(maxBytes: number) {
    super(`it sent a message of more than ${maxBytes} bytes`);
    this.name = "TooLong";
  }
}

function upTo(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) controller.error(new TooLong(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

/**
 * Passes nothing on before a line is whole, because the SDK's parser looks through all of an unfinished line again at each
 * chunk; and counts to the empty line that ends an event, because the parser keeps all lines of one.
 */
function wholeLines(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let parts: Uint8Array[] = [];
  const event = new EventSize();
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (event.after(chunk) > maxBytes) return controller.error(new TooLong(maxBytes));
      if (end === 0) return void parts.push(chunk);
      controller.enqueue(
        parts.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...parts, chunk.subarray(0, end)]),
      );
      parts = end === chunk.length ? [] : [chunk.subarray(end)];
    },
    flush(controller) {
      if (parts.length > 0) controller.enqueue(Buffer.concat(parts));
    },
  });
}

const NEWLINE = 10;
const RETURN = 13;

/** How many bytes of an event there are before the empty line that ends it. */
class EventSize {
  #whole = 0;
  #line = 0;
  #isBlank = true;

  /** The largest that there was in this chunk. */
  after(chunk: Uint8Array): number {
    let largest = 0;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#extend(chunk.subarray(start, end));
      this.#whole = this.#isBlank ? 0 : this.#whole + this.#line;
      largest = Math.max(largest, this.#whole);
      this.#line = 0;
      this.#isBlank = true;
      start = end + 1;
    }
    this.#extend(chunk.subarray(start));
    return Math.max(largest, this.#whole + this.#line);
  }

  #extend(bytes: Uint8Array): void {
    this.#line += bytes.length;
    if (bytes.length > 1 || (bytes.length === 1 && bytes[0] !== RETURN)) this.#isBlank = false;
  }
}
