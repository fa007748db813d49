/** Limits the size of responses from a remote server: of a whole body, or of one event in a stream. */

/** An event stream never ends, so each event is limited. Any other body is limited as a whole. */
export function limitBody(response: Response, maxBytes: number, broke: (error: unknown) => void): Response {
  if (response.body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
  const limit = isStream ? limitEvents(maxBytes) : limitBytes(maxBytes);
  response.body.pipeTo(limit.writable).catch(broke);
  const body = limit.readable;
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  Object.defineProperty(copy, "url", { value: response.url });
  return copy;
}

export class MessageTooLong extends Error {
  constructor(maxBytes: number) {
    super(`it sent a message of more than ${maxBytes} bytes`);
    this.name = "TooLong";
  }
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) controller.error(new MessageTooLong(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

/**
 * Passes on only complete lines, because the SDK's parser scans an unfinished line again for each chunk. Counts bytes
 * up to the blank line that ends an event, because the parser keeps all lines of an event.
 */
function limitEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let parts: Uint8Array[] = [];
  const event = new EventSize();
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      if (event.after(chunk) > maxBytes) return controller.error(new MessageTooLong(maxBytes));
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

/** Counts the bytes of the current event up to the blank line that ends it. */
class EventSize {
  #whole = 0;
  #line = 0;
  #isBlank = true;

  /** Returns the largest size reached in this chunk. */
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
