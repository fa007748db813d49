/**
 * One connection to a server, from initialization to its end: requests in both directions, and detection of its loss.
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { raceAbort } from "../stdx/index.ts";
import type { McpServerSpec } from "../domain/index.ts";
import { openTransport, type TransportOptions } from "./transport/open.ts";
import type { ServerTransport } from "./transport/transport.ts";

/** Handles requests and notifications from the server. */
export interface LinkHandlers {
  /** An error that it throws becomes the error response. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<Record<string, unknown>>;
  onNotification(method: string, params: unknown): void;
}

export interface McpLinkOptions extends TransportOptions {
  readonly capabilities: Record<string, object>;
  readonly version: string;
  readonly handlers: LinkHandlers;
}

export interface LinkRequestOptions {
  /** Cancels the request at the server. Without it, a request ends only with a response or the connection. */
  readonly signal: AbortSignal;
  readonly progress?: ((progress: Progress) => void) | undefined;
}

/** The maximum timer value. Rookery applies its own timeouts. */
const NEVER_MS = 2 ** 31 - 1;
const PROBE_MS = 5_000;
const PROBES = 2;

type ResultSchema = typeof import("@modelcontextprotocol/sdk/types.js").ResultSchema;

/** The connection was lost during a request, which may or may not have taken effect. */
export class LinkLost extends Error {
  constructor(why: Error) {
    super(why.message, { cause: why });
    this.name = "LinkLost";
  }
}

export class Link implements AsyncDisposable {
  readonly #client: Client;
  readonly #serverTransport: ServerTransport;
  readonly #result: ResultSchema;
  readonly #inFlight = new Set<(error: Error) => void>();
  #lost: LinkLost | undefined;
  #isProbing = false;

  private constructor(client: Client, serverTransport: ServerTransport, result: ResultSchema) {
    this.#client = client;
    this.#serverTransport = serverTransport;
    this.#result = result;
    void serverTransport.lost.then((why) => this.#rejectPending(why));
  }

  /** Rejects with the most specific reason, and cleans up after a failure. */
  static async open(spec: McpServerSpec, options: McpLinkOptions): Promise<Link> {
    const serverTransport = await openTransport(spec, options);
    try {
      options.signal.throwIfAborted();
      const [{ Client }, { ResultSchema }] = await Promise.all([
        import("@modelcontextprotocol/sdk/client/index.js"),
        import("@modelcontextprotocol/sdk/types.js"),
      ]);
      const info = { name: "rookery", title: "Rookery", version: options.version };
      // Disables the SDK's validator; `calls/validate.ts` checks results without rejecting them.
      const jsonSchemaValidator = { getValidator: () => () => ({ valid: true }) } as never;
      const client = new Client(info, { capabilities: options.capabilities, jsonSchemaValidator });
      installHandlers(client, options.handlers);
      const greeted = client.connect(serverTransport.transport, { signal: options.signal, timeout: NEVER_MS });
      await raceAbort(Promise.race([greeted, serverTransport.lost.then((why) => Promise.reject(why))]), options.signal);
      const link = new Link(client, serverTransport, ResultSchema);
      serverTransport.onSuspectedLoss = () => void link.#probe();
      return link;
    } catch (error) {
      // A transport that failed by itself knows the reason only after cleanup. After a timeout, cleanup would become
      // the reason.
      const late = options.signal.aborted ? serverTransport.explain(error) : undefined;
      await serverTransport[Symbol.asyncDispose]();
      throw late ?? serverTransport.explain(error);
    }
  }

  /** Resolves with the reason when the connection is lost. */
  get lost(): Promise<Error> {
    return this.#serverTransport.lost;
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  has(capability: "tools" | "prompts" | "resources" | "completions"): boolean {
    return this.#client.getServerCapabilities()?.[capability] !== undefined;
  }

  request(
    method: string,
    params: Record<string, unknown>,
    { signal, progress }: LinkRequestOptions,
  ): Promise<Record<string, unknown>> {
    const onprogress = progress === undefined ? {} : { onprogress: progress };
    const own = new AbortController(); // the SDK (1.32) keeps listening to a signal after its request has ended
    const abort = (): void => own.abort(signal.reason);
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) return reject(this.#lost);
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      this.#inFlight.add(reject);
      this.#client
        .request({ method, params }, this.#result, { signal: own.signal, timeout: NEVER_MS, ...onprogress })
        .finally(() => {
          signal.removeEventListener("abort", abort);
          this.#inFlight.delete(reject);
        })
        .then(resolve, reject);
    });
  }

  explain(error: unknown): Error {
    return this.#serverTransport.explain(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rejectPending(new Error("the connection was closed"));
    await this.#serverTransport[Symbol.asyncDispose]();
    await this.#client.close();
  }

  /** Rejects pending requests now, before the transport is cleaned up. */
  #rejectPending(why: Error): void {
    this.#lost ??= new LinkLost(why);
    for (const reject of this.#inFlight) reject(this.#lost);
    this.#inFlight.clear();
  }

  /** Checks with pings whether the server is still there. The transport counts their network failures. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return; // a failure during the probe is part of what it checks
    this.#isProbing = true;
    for (let failures = 0; failures < PROBES && this.#lost === undefined; failures += 1) {
      try {
        await this.request("ping", {}, { signal: AbortSignal.timeout(PROBE_MS) });
        break;
      } catch {
        // the transport counts network failures; a missing response alone is not a loss
      }
    }
    this.#isProbing = false;
  }
}

/** Bypasses the SDK's own handlers, which reject questions with unknown schemas. */
function installHandlers(client: Client, handlers: LinkHandlers): void {
  client.fallbackRequestHandler = ({ method, params }, { signal }) => handlers.request(method, params, signal);
  client.fallbackNotificationHandler = ({ method, params }) => {
    handlers.onNotification(method, params);
    return Promise.resolve();
  };
}

/** An error with a JSON-RPC code. */
export function rpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}
