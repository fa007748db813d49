/** Reads the body of a request up to a limit. */

import type { IncomingMessage } from "node:http";

export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

export async function readRequestBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new Error(`the model server does not support the content encoding ${encoding}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  // Reads and drops the rest, because a client that is still writing does not read a response.
  if (size > maxBytes) throw new BodyTooLarge(`the request has ${size} bytes, but at most ${maxBytes} are allowed`);
  return Buffer.concat(chunks).toString("utf8");
}
