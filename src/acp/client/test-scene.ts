/** Setup of the client's tests: our client and a scripted agent, connected by streams. */
import { PassThrough, type Transform } from "node:stream";
import { startAcpAgent, type AcpScript, type AcpStep } from "../../testing/acp-agent/index.ts";
import {
  connectClient,
  streamTransport,
  type ClientOptions,
  type SessionItem,
  type StreamTransportOptions,
} from "../index.ts";

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export async function openScene(
  script: AcpScript,
  options: Partial<ClientOptions> = {},
  { through, ...limits }: StreamTransportOptions & { readonly through?: Transform } = {},
) {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  let taken = 0;
  const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
  const client = await connectClient({
    transport: streamTransport(through === undefined ? fromAgent : fromAgent.pipe(through), toAgent, limits),
    trace: (direction, line) => (taken += direction === "in" ? line.length : 0),
    ...options,
  });
  const received = (): Message[] => agent.received as Message[];
  return {
    agent,
    client,
    /** How much the client has read from the agent, in characters. */
    taken: () => taken,
    /** The params of every message with this method that the agent received. */
    sent: (method: string) => received().flatMap((message) => (message.method === method ? [message.params] : [])),
    /** The answers that the agent received, in order. */
    answers: () => received().flatMap(({ method, error, result }) => (method === undefined ? [error ?? result] : [])),
    async [Symbol.asyncDispose]() {
      await client.close();
      await agent.close();
    },
  };
}

/** The bytes of a `session/update`, for steps that write several messages at once. */
export function updateLine(text: string, sessionId = "session-1"): string {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  return `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } })}\n`;
}

export function toolCall(toolCallId: string, sessionUpdate = "tool_call"): AcpStep {
  return { update: { sessionUpdate, toolCallId, title: toolCallId } };
}

/** Each item as a short text: when an update came and its content, the method of a request, or the stop reason. */
export function describeItems(items: Iterable<SessionItem>): string[] {
  return Array.from(items, (item) => {
    if (item.kind === "stop") return `stop ${item.response.stopReason}`;
    if (item.kind === "request") return `asks ${item.request.method}`;
    const { toolCallId, content, sessionUpdate } = item.update as {
      toolCallId?: string;
      content?: { text?: string };
      sessionUpdate: string;
    };
    return `${item.when} ${toolCallId ?? content?.text ?? sessionUpdate}`;
  });
}

export async function readAll(turn: AsyncIterable<SessionItem>): Promise<string[]> {
  const items: SessionItem[] = [];
  for await (const item of turn) items.push(item);
  return describeItems(items);
}

/** Returns the error that the promise rejects with. */
export async function getRejection(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not fail");
}

/** Waits until the client has stopped reading for many turns of the event loop. */
export async function stalled({ taken }: { taken: () => number }): Promise<void> {
  for (let before = -1; before !== taken();) {
    before = taken();
    for (let turns = 0; turns < 200; turns += 1) await new Promise(setImmediate);
  }
}
