/** Bounds what a remote server sends: the body of an answer, or one line of a stream of events. */

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

/** Passes nothing on before a line is whole, because the SDK's parser looks through all of an unfinished line again at each chunk. */
function wholeLines(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(10) + 1;
      const unfinished = chunk.length - end;
      if (bytes + (end === 0 ? chunk.length : 0) > maxBytes) return controller.error(new TooLong(maxBytes));
      if (end === 0) {
        parts.push(chunk);
        bytes += chunk.length;
        return;
      }
      controller.enqueue(
        parts.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...parts, chunk.subarray(0, end)]),
      );
      parts = unfinished === 0 ? [] : [chunk.subarray(end)];
      bytes = unfinished;
    },
    flush(controller) {
      if (bytes > 0) controller.enqueue(Buffer.concat(parts));
    },
  });
}
