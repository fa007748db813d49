/** One connection to a server, from the greeting to its end: requests in both directions, and word of its end. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { raceAbort } from "../stdx/index.ts";
import type { McpServerSpec } from "../domain/index.ts";
import { openWay, type WayOptions } from "./transport/open.ts";
import type { Way } from "./transport/transport.ts";

/** What a server does on its own account. */
export interface LinkHandlers {
  /** What it throws is answered as the error. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<Record<string, unknown>>;
  notified(method: string, params: unknown): void;
}

export interface LinkOptions extends WayOptions {
  readonly capabilities: Record<string, object>;
  readonly version: string;
  readonly handlers: LinkHandlers;
}

export interface RequestOptions {
  /** Tells the server that it is cancelled. The request has no other end than the answer's and the connection's. */
  readonly signal: AbortSignal;
  readonly progress?: ((progress: Progress) => void) | undefined;
}

/** The longest that a timer can be: our own clocks end what takes too long. */
const NEVER_MS = 2 ** 31 - 1;
const PROBE_MS = 5_000;
const PROBES = 2;

type ResultSchema = typeof import("@modelcontextprotocol/sdk/types.js").ResultSchema;

/** The connection ended under a request: what was asked may or may not have happened. */
export class LinkLost extends Error {
  constructor(why: Error) {
    super(why.message, { cause: why });
    this.name = "LinkLost";
  }
}

export class Link implements AsyncDisposable {
  readonly #client: Client;
  readonly #way: Way;
  readonly #result: ResultSchema;
  readonly #inFlight = new Set<(error: Error) => void>();
  #lost: LinkLost | undefined;
  #isProbed = false;

  private constructor(client: Client, way: Way, result: ResultSchema) {
    this.#client = client;
    this.#way = way;
    this.#result = result;
    void way.lost.then((why) => this.#end(why));
  }

  /** Rejects with the best reason there is; nothing is left of the attempt then. */
  static async open(spec: McpServerSpec, options: LinkOptions): Promise<Link> {
    const way = await openWay(spec, options);
    try {
      options.signal.throwIfAborted();
      const [{ Client }, { ResultSchema }] = await Promise.all([
        import("@modelcontextprotocol/sdk/client/index.js"),
        import("@modelcontextprotocol/sdk/types.js"),
      ]);
      const info = { name: "rookery", title: "Rookery", version: options.version };
      // Its validator is not used: see the soft one of results.
      const jsonSchemaValidator = { getValidator: () => () => ({ valid: true }) } as never;
      const client = new Client(info, { capabilities: options.capabilities, jsonSchemaValidator });
      listen(client, options.handlers);
      const greeted = client.connect(way.transport, { signal: options.signal, timeout: NEVER_MS });
      await raceAbort(Promise.race([greeted, way.lost.then((why) => Promise.reject(why))]), options.signal);
      const link = new Link(client, way, ResultSchema);
      way.doubted = () => void link.#probe();
      return link;
    } catch (error) {
      // A way that failed by itself knows why when it is cleared; one that took too long would name our own clearing.
      const late = options.signal.aborted ? way.explain(error) : undefined;
      await way[Symbol.asyncDispose]();
      throw late ?? way.explain(error);
    }
  }

  /** Resolves with the reason when the server cannot be spoken with any more. */
  get lost(): Promise<Error> {
    return this.#way.lost;
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
    { signal, progress }: RequestOptions,
  ): Promise<Record<string, unknown>> {
    const onprogress = progress === undefined ? {} : { onprogress: progress };
    const own = new AbortController(); // the SDK (1.32) goes on listening to a signal when its request is over
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
    return this.#way.explain(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end(new Error("the connection was closed"));
    await this.#way[Symbol.asyncDispose]();
    await this.#client.close();
  }

  /** What is pending ends now, and not when the way is cleared. */
  #end(why: Error): void {
    this.#lost ??= new LinkLost(why);
    for (const reject of this.#inFlight) reject(this.#lost);
    this.#inFlight.clear();
  }

  /** Something broke. Whether the server is still there shows when it is asked, as often as the way wants to see it fail. */
  async #probe(): Promise<void> {
    if (this.#isProbed) return; // what breaks while we ask is what we ask about
    this.#isProbed = true;
    for (let failures = 0; failures < PROBES && this.#lost === undefined; failures += 1) {
      try {
        await this.request("ping", {}, { signal: AbortSignal.timeout(PROBE_MS) });
        break;
      } catch {
        // a failure of the network counts where it is seen; silence is not an end
      }
    }
    this.#isProbed = false;
  }
}

/** Not with the SDK's own handlers: they refuse a question whose schema they do not know. */
function listen(client: Client, handlers: LinkHandlers): void {
  client.fallbackRequestHandler = ({ method, params }, { signal }) => handlers.request(method, params, signal);
  client.fallbackNotificationHandler = ({ method, params }) => {
    handlers.notified(method, params);
    return Promise.resolve();
  };
}

/** An answer that the protocol has a number for. */
export function rpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}
