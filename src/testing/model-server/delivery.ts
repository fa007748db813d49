/** Sends one reply with its delays and its fault. */

import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { completeReply } from "./answer.ts";
import { GARBAGE, retryAfterHeader, type StreamFault } from "./faults.ts";
import type { ScriptedReply } from "./script.ts";
import type { ModelExchange, WireError, Wire } from "./wires/wire.ts";

/** How an exchange ended: completely, by a scripted fault, or because the client or the server closed first. */
export type ModelExchangeEnding = "answered" | "broken" | "aborted";

export interface Delivery {
  readonly response: ServerResponse;
  readonly wire: Wire;
  readonly exchange: ModelExchange;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
}

export async function deliverReply(delivery: Delivery, reply: ScriptedReply): Promise<ModelExchangeEnding> {
  const over = waitForAbortSignal(delivery.signal);
  try {
    return await Promise.race([sendReply(delivery, reply), over.promise]);
  } catch (error) {
    if (delivery.signal.aborted) return "aborted";
    throw error;
  } finally {
    over.forget();
  }
}

/** Responds with an error in the format of the wire. */
export function sendFailure(
  response: ServerResponse,
  wire: Wire,
  exchange: Pick<ModelExchange, "number">,
  failure: WireError,
): ModelExchangeEnding {
  const { status, body, headers } = wire.failure(failure, exchange);
  const retry = failure.retryAfter === undefined ? {} : { "retry-after": retryAfterHeader(failure.retryAfter) };
  response.writeHead(status, { ...wire.headers("json", exchange), ...retry, ...headers });
  response.end(body);
  return "answered";
}

async function sendReply(delivery: Delivery, reply: ScriptedReply): Promise<ModelExchangeEnding> {
  const { response, wire, exchange, signal } = delivery;
  const { fault, firstByteDelayMs = 0, chunkDelayMs = 0 } = reply;
  const { model, stream } = exchange.request;
  if (firstByteDelayMs > 0) await pause(firstByteDelayMs, undefined, { signal });
  if (fault?.kind === "status") return sendFailure(response, wire, exchange, { ...fault, model });
  if (fault?.kind === "reset") return destroyResponse(response);
  if (fault?.kind === "error" && !stream)
    return sendFailure(response, wire, exchange, { status: wire.overloadStatus, model });

  const answer = completeReply(reply);
  const events = stream ? wire.stream(answer, exchange) : splitInHalves(JSON.stringify(wire.whole(answer, exchange)));
  response.writeHead(200, wire.headers(stream && exchange.route.array !== true ? "stream" : "json", exchange));
  response.flushHeaders();
  const faultAt = Math.min(fault?.afterEvents ?? Math.floor(events.length / 2), events.length);
  for (let sent = 0; sent <= events.length; sent++) {
    if (fault !== undefined && sent === faultAt) {
      const ending = await injectFault(delivery, fault, sent);
      if (ending !== undefined) return ending;
    }
    const event = events[sent];
    if (event === undefined) break;
    if (sent > 0 && chunkDelayMs > 0) await pause(chunkDelayMs, undefined, { signal });
    await write(response, event);
  }
  response.end();
  return "answered";
}

/** Resolves with undefined if the answer continues after the fault. */
async function injectFault(
  delivery: Delivery,
  fault: StreamFault,
  sent: number,
): Promise<ModelExchangeEnding | undefined> {
  const { response, wire } = delivery;
  switch (fault.kind) {
    case "garbage":
      await write(response, Buffer.concat([GARBAGE, Buffer.from("\n\n")]));
      return undefined;
    case "error":
      await write(response, wire.errorEvent(sent));
      response.end();
      return "answered";
    case "eof":
      response.end();
      return "answered";
    case "stall":
      return new Promise<never>(() => undefined);
    case "cut":
    case "reset":
      return destroyResponse(response);
  }
}

function destroyResponse(response: ServerResponse): ModelExchangeEnding {
  response.destroy();
  return "broken";
}

function splitInHalves(body: string): string[] {
  const middle = Math.floor(body.length / 2);
  return [body.slice(0, middle), body.slice(middle)];
}

/**
 * Resolves when the bytes are handed to the system, so that a cut right after it loses none of them.
 * Never settles if the write fails: the client has disconnected, and the signal is about to abort.
 */
function write(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  return new Promise<void>((resolve) => {
    response.write(bytes, (error) => {
      if (!error) resolve();
    });
  });
}

/** Resolves on abort. Ends a stall, and a write to a disconnected client. */
function waitForAbortSignal(signal: AbortSignal): { promise: Promise<ModelExchangeEnding>; forget: () => void } {
  let onAbort = () => {};
  const promise = new Promise<ModelExchangeEnding>((resolve) => {
    onAbort = () => resolve("aborted");
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  return { promise, forget: () => signal.removeEventListener("abort", onAbort) };
}
