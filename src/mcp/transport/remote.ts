/** Connects to a server at a URL, with a client transport of the MCP SDK and a monitored `fetch`. */
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { RemoteServerSpec } from "../../domain/index.ts";
import { deferred, raceTimeout } from "../../stdx/index.ts";
import { LoginNeeded, type Authorizer } from "../authorizer.ts";
import { limitBody, MessageTooLong } from "./body.ts";
import { PermanentFailure, type ServerTransport } from "./transport.ts";

/** Consecutive network failures before the server counts as lost. */
const MAX_FAILURES = 2;
/** How the SDK reconnects a broken stream before the server counts as lost. */
const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 2_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};
const TERMINATE_TIMEOUT_MS = 1_000;

/** The server could not be reached, or the connection broke. */
export class NetworkError extends Error {
  /** The request was never sent. */
  readonly isUnsent: boolean;

  constructor(cause: unknown) {
    const inner = (cause as { cause?: unknown } | undefined)?.cause;
    const reported = inner instanceof Error ? inner : cause; // `fetch failed` is not helpful; its cause is
    const { code, message } = reported as NodeJS.ErrnoException;
    super(message || code || "the network request failed", { cause });
    this.name = "NetworkError";
    this.isUnsent = code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN";
  }
}

export async function openRemote(
  spec: RemoteServerSpec,
  { authorizer, maxBytes }: { readonly authorizer: Authorizer | undefined; readonly maxBytes: number },
): Promise<ServerTransport> {
  const lost = deferred<Error>();
  let lastError: Error | undefined; // the SDK's SSE transport hides causes
  const recordError = (error: Error | undefined): void => void (lastError = error);
  let onSuspectedLoss: (() => void) | undefined;
  const watch = {
    lost: (why: Error) => lost.resolve(why),
    recordError,
    suspectLoss: () => onSuspectedLoss?.(),
    maxBytes,
  };
  const options = {
    requestInit: { headers: { ...spec.headers } },
    fetch: monitorFetch((url, init) => (authorizer ?? globalThis).fetch(url, init), watch),
  };
  const url = parseServerUrl(spec);
  const explain = (error: unknown): Error => explainHttpError(lastError ?? error);
  if (spec.type === "sse") {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- some servers support only SSE
    const { SSEClientTransport: SseTransport, SseError } = await import("@modelcontextprotocol/sdk/client/sse.js");
    const transport = new SseTransport(url, options);
    transport.onerror = (error) => {
      if (error instanceof SseError) lost.resolve(explain(error)); // the session ends with its stream
    };
    return { transport, lost: lost.promise, explain, [Symbol.asyncDispose]: () => transport.close() };
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const transport = new StreamableHTTPClientTransport(url, { ...options, reconnectionOptions: RECONNECTION });
  return {
    transport,
    lost: lost.promise,
    explain,
    set onSuspectedLoss(listener: (() => void) | undefined) {
      onSuspectedLoss = listener;
    },
    async [Symbol.asyncDispose]() {
      const terminated = transport.terminateSession().catch(() => undefined);
      await raceTimeout(terminated, TERMINATE_TIMEOUT_MS, { ref: false });
      await transport.close();
    },
  };
}

interface FetchMonitor {
  readonly lost: (why: Error) => void;
  /** The error of the last request, or undefined if it succeeded. */
  readonly recordError: (error: Error | undefined) => void;
  readonly suspectLoss: () => void;
  readonly maxBytes: number;
}

function monitorFetch(inner: FetchLike, { lost, recordError, suspectLoss, maxBytes }: FetchMonitor): FetchLike {
  let failures = 0;
  return async (url, init) => {
    try {
      const response = await inner(url, init);
      failures = 0;
      recordError(undefined);
      if (response.status === 404 && new Headers(init?.headers).has("mcp-session-id")) {
        lost(new Error("it ended the session"));
      }
      return limitBody(response, maxBytes, (error) => {
        if (init?.signal?.aborted === true) return;
        if (error instanceof MessageTooLong) lost(error);
        else suspectLoss();
      });
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      const login = findLoginNeeded(error);
      const why = login ?? new NetworkError(error);
      recordError(why);
      failures += 1;
      if (login !== undefined || failures >= MAX_FAILURES) lost(why);
      else suspectLoss();
      throw why;
    }
  };
}

/** Finds it anywhere in the chain of causes. */
export function findLoginNeeded(error: unknown): LoginNeeded | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    if (at instanceof LoginNeeded) return at;
  }
  return undefined;
}

function explainHttpError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { code } = error as { code?: unknown };
  if (code === 401 || code === 403) {
    const message = `it rejected the request (HTTP ${code})`;
    return new PermanentFailure(message, { cause: error, fix: "configure the headers or the login that it requires" });
  }
  // A response that is not MCP does not become better with a retry.
  if (typeof code === "number" && code >= 300 && code < 500) {
    const message = `it answered HTTP ${code}${readErrorBody(error.message)}`;
    return new PermanentFailure(message, {
      cause: error,
      fix: "check that its url is the MCP endpoint, which often ends with /mcp",
    });
  }
  return error;
}

/** Extracts the body from the SDK's error message. Empty for an HTML page. */
function readErrorBody(message: string): string {
  const [, said = ""] = /endpoint[^:]{0,40}: ([^]*)$/.exec(message) ?? [];
  return said.trim() === "" || said.includes("<") ? "" : `: ${said.trim()}`;
}

function parseServerUrl({ url }: RemoteServerSpec): URL {
  try {
    const parsed = new URL(url);
    if (parsed.protocol === "http:" || parsed.protocol === "https:") return parsed;
  } catch {
    // reported below
  }
  throw new PermanentFailure(`its url is not an http or https URL: ${url}`, { fix: "correct its url" });
}
