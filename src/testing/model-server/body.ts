/** Reads a request's body up to a limit. */

import type { IncomingMessage } from "node:http";

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

export async function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new Error(`the model server does not read bodies encoded as ${encoding}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  // What is over the limit is read and dropped, because a client that is still writing does not see an answer.
  if (size > maxBytes) throw new BodyTooLarge(`the request has ${size} bytes, and at most ${maxBytes} are taken`);
  return Buffer.concat(chunks).toString("utf8");
}
