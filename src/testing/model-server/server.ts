/** A scripted model on a loopback port that speaks the APIs of Anthropic, OpenAI and Gemini. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { readRequestBody, BodyTooLarge } from "./body.ts";
import { deliverReply, sendFailure, type ModelExchangeEnding } from "./delivery.ts";
import { findUnpairedCalls } from "./history.ts";
import { modelList } from "./models.ts";
import { toModelRequest, maskSecretHeaders, type ModelRequest } from "./request.ts";
import { replyAt, type ScriptedReply, type ModelScript } from "./script.ts";
import { Waiters } from "./waiters.ts";
import { WIRES } from "./wires/index.ts";
import type { ModelExchange, WireError, WireRoute, Wire } from "./wires/wire.ts";

export interface ModelServerOptions {
  /** Rejects other keys as the real API does. Default: accepts any key. */
  readonly requireKey?: string;
  /** Rejects other models as the real API does. Default: accepts any model. */
  readonly models?: readonly string[];
  /** Rejects further requests with 400 and does not keep them. Default: 1000. */
  readonly maxRequests?: number;
  /** Rejects larger bodies with 413. Default: 64 MiB. */
  readonly maxBodyBytes?: number;
  /** The clock for dates in answers, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

export async function startModelServer(script: ModelScript, options: ModelServerOptions = {}): Promise<ModelServer> {
  const server = createServer({ keepAlive: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return new ModelServer(server, script, options);
}

const MAX_REQUESTS = 1_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_PROBLEMS = 100;
const CHARACTERS_PER_TOKEN = 4;

export class ModelServer implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #script: ModelScript;
  readonly #options: ModelServerOptions;
  readonly #requests: ModelRequest[] = [];
  readonly #problems: string[] = [];
  readonly #arrivals = new Waiters<ModelRequest>();
  readonly #endings = new Waiters<ModelExchangeEnding>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;
  #exchanges = 0;
  #replies = 0;

  /** Use `startModelServer`. */
  constructor(server: Server, script: ModelScript, options: ModelServerOptions) {
    this.#server = server;
    this.#script = script;
    this.#options = options;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => {
      this.#handle(request, response).catch((error: unknown) => {
        this.#report(`answering a request failed: ${formatParseError(error)}`);
        response.destroy();
      });
    });
  }

  /** Every model request in order of arrival, including rejected ones. */
  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  /** Mistakes of the test: a script that ran out or threw, or a request that no API accepts. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Waits until the request with this index (from 0) has arrived. */
  received(index: number): Promise<ModelRequest> {
    return this.#arrivals.at(index);
  }

  /** Waits until the exchange with this index (from 0) ends, and resolves with how it ended. */
  ended(index: number): Promise<ModelExchangeEnding> {
    return this.#endings.at(index);
  }

  /** Aborts every exchange. Closing twice is safe. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#closing.abort();
      this.#arrivals.close();
      this.#endings.close();
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const path = url.pathname.replace(/^(?:\/v\d[a-z\d]*)+(?=\/)/, "");
    if (request.method === "GET" && path === "/models") {
      return sendJson(response, 200, modelList(this.#options.models ?? [], url.pathname, request.headers));
    }
    for (const wire of request.method === "POST" ? WIRES : []) {
      const route = wire.route(path, url.searchParams);
      if (route !== undefined) return this.#answer(wire, route, url, request, response);
    }
    sendJson(response, 404, {
      error: { message: `the model server has no route ${request.method ?? ""} ${url.pathname}` },
    });
  }

  async #answer(
    wire: Wire,
    route: WireRoute,
    url: URL,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const number = ++this.#exchanges;
    const { maxBodyBytes = MAX_BODY_BYTES, maxRequests = MAX_REQUESTS } = this.#options;
    const refused = (failure: WireError) => sendFailure(response, wire, { number }, failure);
    const at = (this.#options.now ?? Date.now)();

    let request: ModelRequest;
    try {
      const body: unknown = JSON.parse(await readRequestBody(incoming, maxBodyBytes));
      const received = { wire: wire.name, path: url.pathname, body, at, headers: maskSecretHeaders(incoming.headers) };
      request = toModelRequest(wire.read(body, route), received);
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return;
      this.#report(`${wire.name} request ${number}: ${formatParseError(error)}`);
      refused({ status: error instanceof BodyTooLarge ? 413 : 400, message: formatParseError(error) });
      return;
    }

    if (route.action === "count") {
      const tokens = Math.ceil(JSON.stringify(request.body).length / CHARACTERS_PER_TOKEN);
      return sendJson(response, 200, wire.tokenCount(tokens), wire.headers("json", { number }));
    }
    if (this.#requests.length >= maxRequests) {
      const message = `the model server accepts at most ${maxRequests} requests; raise the option maxRequests`;
      this.#report(message);
      refused({ status: 400, message });
      return;
    }
    const index = this.#requests.push(request) - 1;
    this.#arrivals.resolve(index, request);
    const exchange = { request, route, number, created: Math.floor(at / 1000) };
    const key = wire.key(incoming.headers, url.searchParams);
    try {
      this.#endings.resolve(index, await this.#converse(wire, exchange, key, response));
    } catch (error) {
      this.#endings.resolve(index, "broken");
      throw error;
    }
  }

  async #converse(
    wire: Wire,
    exchange: ModelExchange,
    key: string | undefined,
    response: ServerResponse,
  ): Promise<ModelExchangeEnding> {
    const { requireKey, models } = this.#options;
    const { request } = exchange;
    const refused = (failure: WireError) => sendFailure(response, wire, exchange, { ...failure, model: request.model });
    if (requireKey !== undefined && key !== requireKey) return refused({ status: 401, why: "wrong_key" });
    if (models !== undefined && !models.includes(request.model)) return refused({ status: 404, why: "unknown_model" });
    const refusal = wire.refusal(findUnpairedCalls(request.messages));
    if (refusal !== undefined) return this.#testIsWrong(refusal, refused);

    const index = this.#replies++;
    const clientGone = new AbortController();
    response.once("close", () => clientGone.abort());
    let reply: ScriptedReply | undefined;
    try {
      reply = await replyAt(this.#script, request, index);
    } catch (error) {
      return this.#testIsWrong(`the script threw on request ${index + 1}: ${formatParseError(error)}`, refused);
    }
    if (reply === undefined) return this.#testIsWrong(`the script has no reply number ${index + 1}`, refused);
    const signal = AbortSignal.any([clientGone.signal, this.#closing.signal]);
    return deliverReply({ response, wire, exchange, signal }, reply);
  }

  /** Responds with 400, which no client retries, so that a mistake in a test is visible. */
  #testIsWrong(message: string, refused: (failure: WireError) => ModelExchangeEnding): ModelExchangeEnding {
    this.#report(message);
    return refused({ status: 400, message });
  }

  #report(problem: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function formatParseError(error: unknown): string {
  if (error instanceof z.ZodError) {
    return error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}
