/** The way to a server behind a URL: a client transport of the MCP SDK over a `fetch` that is watched. */
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { setTimeout as sleep } from "node:timers/promises";
import type { RemoteServerSpec } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import { LoginNeeded, type Authorizer } from "../authorizer.ts";
import { bounded, TooLong } from "./body.ts";
import { Hopeless, type Way } from "./transport.ts";

/** How often in a row the network may fail before the server counts as gone. */
const FAILURES = 2;
/** How the SDK reaches again for a stream that broke, before we count the server as gone. */
const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 2_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};
const GOODBYE_MS = 1_000;

/** The server could not be reached, or the way to it broke. */
export class NetworkError extends Error {
  /** The request never left. */
  readonly isUnsent: boolean;

  constructor(cause: unknown) {
    const inner = (cause as { cause?: unknown } | undefined)?.cause;
    const told = inner instanceof Error ? inner : cause; // `fetch failed` says nothing; its cause does
    const { code, message } = told as NodeJS.ErrnoException;
    super(message || code || "the network failed", { cause });
    this.name = "NetworkError";
    this.isUnsent = code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN";
  }
}

export async function openRemote(
  spec: RemoteServerSpec,
  { authorizer, maxBytes }: { readonly authorizer: Authorizer | undefined; readonly maxBytes: number },
): Promise<Way> {
  const lost = deferred<Error>();
  let known: Error | undefined; // the SDK's SSE transport tells no causes
  const note = (error: Error | undefined): void => void (known = error);
  let doubted: (() => void) | undefined;
  const watch = { lost: (why: Error) => lost.resolve(why), note, doubt: () => doubted?.(), maxBytes };
  const options = {
    requestInit: { headers: { ...spec.headers } },
    fetch: watched((url, init) => (authorizer ?? globalThis).fetch(url, init), watch),
  };
  const url = urlOf(spec);
  const explain = (error: unknown): Error => explained(known ?? error);
  if (spec.type === "sse") {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there are servers that speak nothing else
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
    set doubted(listener: (() => void) | undefined) {
      doubted = listener;
    },
    async [Symbol.asyncDispose]() {
      const late = sleep(GOODBYE_MS, undefined, { ref: false });
      await Promise.race([transport.terminateSession().catch(() => undefined), late]);
      await transport.close();
    },
  };
}

interface Watch {
  readonly lost: (why: Error) => void;
  /** How the last request failed; undefined when it did not. */
  readonly note: (error: Error | undefined) => void;
  readonly doubt: () => void;
  readonly maxBytes: number;
}

function watched(inner: FetchLike, { lost, note, doubt, maxBytes }: Watch): FetchLike {
  let failures = 0;
  return async (url, init) => {
    try {
      const response = await inner(url, init);
      failures = 0;
      note(undefined);
      if (response.status === 404 && new Headers(init?.headers).has("mcp-session-id")) {
        lost(new Error("it has ended the session"));
      }
      return bounded(response, maxBytes, (error) => {
        if (init?.signal?.aborted === true) return;
        if (error instanceof TooLong) lost(error);
        else doubt();
      });
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      const login = loginNeeded(error);
      const why = login ?? new NetworkError(error);
      note(why);
      failures += 1;
      if (login !== undefined || failures >= FAILURES) lost(why);
      else doubt();
      throw why;
    }
  };
}

/** Wherever it is in the chain of causes. */
export function loginNeeded(error: unknown): LoginNeeded | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    if (at instanceof LoginNeeded) return at;
  }
  return undefined;
}

function explained(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { code } = error as { code?: unknown };
  if (code === 401 || code === 403) {
    const message = `it refuses us (HTTP ${code})`;
    return new Hopeless(message, { cause: error, fix: "give it the headers or the login that it wants" });
  }
  // An answer that is not MCP is not one that another try makes better.
  if (typeof code === "number" && code >= 300 && code < 500) {
    const message = `it answered HTTP ${code}${wordsIn(error.message)}`;
    return new Hopeless(message, {
      cause: error,
      fix: "see that its url is the one for MCP, often with /mcp at its end",
    });
  }
  return error;
}

/** What an answer said beside its status, without what the SDK says of it; of a page for people nothing. */
function wordsIn(message: string): string {
  const [, said = ""] = /endpoint[^:]{0,40}: ([^]*)$/.exec(message) ?? [];
  return said.trim() === "" || said.includes("<") ? "" : `: ${said.trim()}`;
}

function urlOf({ url }: RemoteServerSpec): URL {
  try {
    const parsed = new URL(url);
    if (parsed.protocol === "http:" || parsed.protocol === "https:") return parsed;
  } catch {
    // told below
  }
  throw new Hopeless(`its url is not one of http or https: ${url}`, { fix: "correct its url" });
}
