/** A server of this process on a pair of streams: what a program that starts us speaks to. */
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { InProcessServer } from "./http-sessions.ts";

export interface StdioStreams {
  readonly input: Readable;
  /** Nothing but the protocol may be written to it while it is served. */
  readonly output: Writable;
}

/** A longer line ends the connection. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Resolves when the input ended, the reader of the output is gone, or the signal fired: calls are cancelled then. */
export async function serveStdio(
  server: InProcessServer,
  { input, output }: StdioStreams,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_LINE_BYTES });
  const ended = new AbortController();
  const end = (): void => ended.abort();
  let closed = false;
  transport.onclose = () => {
    closed = true;
    end();
  };
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted === true) end();
  const over = new Promise<void>((resolve) => ended.signal.addEventListener("abort", () => resolve(), { once: true }));
  void finished(input, { writable: false, signal: ended.signal }).then(end, end);
  void finished(output, { readable: false, signal: ended.signal }).then(end, end);
  try {
    await (await server.open()).connect(transport);
    if (!ended.signal.aborted) await over;
  } finally {
    signal?.removeEventListener("abort", end);
    if (!closed) await transport.close();
    end();
  }
}
