/** Passes MCP messages between an agent on stdio and a remote server until one of them disconnects. */
import type { Readable, Writable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { deferred } from "../../stdx/index.ts";
import { RPC } from "../errors.ts";
import { readBridgeTarget } from "./bridge-target.ts";
import { connectRemoteServer, type RemoteServer } from "./remote-server.ts";

export interface BridgeStreams {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Carries only MCP messages. */
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Reading pauses at this number of requests in flight. */
const MAX_PENDING = 256;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Resolves with the exit code: 0 when stdin ended, otherwise 1 with the reason as one line on stderr. */
export async function runBridge({ env, stdin, stdout, stderr }: BridgeStreams): Promise<number> {
  let remote: RemoteServer | undefined;
  try {
    const target = readBridgeTarget(env);
    const { origin, pathname } = new URL(target.url);
    remote = await connectRemoteServer(target);
    const why = await relayMessages({ stdin, stdout, remote });
    if (why !== undefined) throw new Error(`${origin}${pathname}: ${why.message}`, { cause: why });
    return 0;
  } catch (error) {
    stderr.write(`mcp-bridge: ${toError(error).message.replaceAll(/\s+/g, " ")}\n`);
    return 1;
  } finally {
    await remote?.end();
  }
}

interface RelayEnds {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly remote: RemoteServer;
}

/** Resolves with the reason, or with undefined if the agent disconnected. */
async function relayMessages({ stdin, stdout, remote }: RelayEnds): Promise<Error | undefined> {
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  const near: Transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const far = remote.transport;
  const finished = deferred<Error | undefined>();
  const pending = new Map<unknown, string>();
  /** Sends are chained behind what must precede them: the connection, the session, and earlier notifications. */
  let turn: Promise<void> = far.start().catch((error: unknown) => finished.resolve(toError(error)));

  const answer = (message: JSONRPCMessage): void => {
    if (stdout.writableLength > MAX_UNREAD_BYTES) return finished.resolve(new Error("the agent is not reading"));
    near.send(message).catch((error: unknown) => finished.resolve(toError(error)));
  };
  const settle = (id: unknown): boolean => {
    const found = pending.delete(id);
    if (pending.size < MAX_PENDING / 2 && stdin.isPaused()) stdin.resume();
    return found;
  };
  const fail = (id: unknown, { message }: Error): void => {
    if (settle(id)) answer({ jsonrpc: "2.0", id: id as number, error: { code: RPC.internalError, message } });
  };
  const send = async (message: JSONRPCMessage): Promise<void> => {
    try {
      await far.send(message);
    } catch (error) {
      if (!("method" in message) || !("id" in message)) return;
      fail(message.id, toError(error));
      if (message.method === "initialize") finished.resolve(toError(error));
    }
  };

  far.onmessage = (message) => {
    if (!("method" in message)) {
      if (pending.get(message.id) === "initialize" && "result" in message) {
        far.setProtocolVersion?.(String(message.result["protocolVersion"]));
      }
      settle(message.id);
    }
    answer(message);
  };
  near.onmessage = (message) => {
    const isRequest = "method" in message && "id" in message;
    if (isRequest) pending.set(message.id, message.method);
    if (pending.size >= MAX_PENDING) stdin.pause();
    const waits = !isRequest || message.method === "initialize";
    turn = turn.then(() => (waits ? send(message) : void send(message)));
  };
  near.onclose = () => finished.resolve(new Error("a message exceeded the size limit"));
  stdout.setMaxListeners(0); // the SDK's transport adds one listener per pending message
  for (const event of ["end", "close"]) stdin.once(event, () => finished.resolve(undefined));
  stdout.once("error", () => finished.resolve(undefined));

  await near.start();
  const why = await Promise.race([finished.promise, remote.gone]);
  if (why !== undefined) for (const id of [...pending.keys()]) fail(id, why);
  near.onclose = undefined;
  await near.close();
  return why;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
