/** Serves an in-process MCP server on a pair of streams, for a program that starts Rookery. */
import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { checkArgument, objectArgument, optionalArgument, signalArgument } from "../../domain/arguments.ts";
import type { ArgumentCheck } from "../../domain/arguments.ts";
import { IN_PROCESS_SERVER, type OpenableServer } from "./http-sessions.ts";

export interface StdioStreams {
  readonly input: Readable;
  /** Nothing but protocol messages may be written to it while it is served. */
  readonly output: Writable;
}

const streamArgument: ArgumentCheck = (value) => (value instanceof EventEmitter ? undefined : "expected a stream");

/** A longer line ends the connection. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Resolves when the input ends, the reader of the output goes away, or the signal fires. Pending calls are then
 * cancelled.
 */
export async function serveStdio(
  server: OpenableServer,
  streams: StdioStreams,
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  checkArgument(server, IN_PROCESS_SERVER, "the server");
  checkArgument(streams, objectArgument({ input: streamArgument, output: streamArgument }), "the streams");
  checkArgument(options, objectArgument({ signal: optionalArgument(signalArgument) }), "the options of serveStdio");
  const { input, output } = streams;
  const { signal } = options;
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
  const hasEnded = new Promise<void>((resolve) =>
    ended.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  void finished(input, { writable: false, signal: ended.signal }).then(end, end);
  void finished(output, { readable: false, signal: ended.signal }).then(end, end);
  try {
    await (await server.open()).connect(transport);
    if (!ended.signal.aborted) await hasEnded;
  } finally {
    signal?.removeEventListener("abort", end);
    if (!closed) await transport.close();
    end();
  }
}
