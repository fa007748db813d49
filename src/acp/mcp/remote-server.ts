/** The bridge's connection to the real server: an MCP client transport that detects when the server is gone. */
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { deferred } from "../../stdx/index.ts";
import type { BridgeTarget } from "./bridge-target.ts";

export interface RemoteServer {
  readonly transport: Transport;
  /** Resolves with the reason when the server is unreachable or has ended the session. */
  readonly gone: Promise<Error>;
  /** Ends the session on the server, if there is one. */
  end(): Promise<void>;
}

/** Number of consecutive network failures after which the server counts as gone. */
const MAX_FAILURES = 2;
const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 2_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};
const TERMINATE_WAIT_MS = 1_000;

export async function connectRemoteServer({ type, url, headers }: BridgeTarget): Promise<RemoteServer> {
  const gone = deferred<Error>();
  const options = {
    requestInit: { headers: headers.map(({ name, value }): [string, string] => [name, value]) },
    fetch: watchFetch((reason) => gone.resolve(reason)),
  };
  if (type === "sse") {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there are servers that speak nothing else
    const { SSEClientTransport: SseTransport, SseError } = await import("@modelcontextprotocol/sdk/client/sse.js");
    const transport = new SseTransport(new URL(url), options);
    transport.onerror = (error) => {
      if (error instanceof SseError) gone.resolve(error); // the session ends with its stream
    };
    return { transport, gone: gone.promise, end: () => transport.close() };
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const transport = new StreamableHTTPClientTransport(new URL(url), { ...options, reconnectionOptions: RECONNECTION });
  return {
    transport,
    gone: gone.promise,
    async end() {
      const late = new Promise((resolve) => setTimeout(resolve, TERMINATE_WAIT_MS).unref());
      await Promise.race([transport.terminateSession().catch(() => undefined), late]);
      await transport.close();
    },
  };
}

function watchFetch(gone: (reason: Error) => void): FetchLike {
  let failures = 0;
  return async (url, init) => {
    try {
      const response = await fetch(url, init);
      failures = 0;
      if (response.status === 404 && new Headers(init?.headers).has("mcp-session-id")) {
        gone(new Error("the server has ended the session"));
      }
      return response;
    } catch (error) {
      failures += 1;
      if (failures >= MAX_FAILURES && init?.signal?.aborted !== true) gone(toNetworkError(error));
      throw toNetworkError(error);
    }
  };
}

/** Reports the cause, because `fetch failed` alone does not explain anything. */
function toNetworkError(error: unknown): Error {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof Error)
    return new Error(cause.message || (cause as NodeJS.ErrnoException).code, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}
