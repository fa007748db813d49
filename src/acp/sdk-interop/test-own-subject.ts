/** Adapts this library to the scenarios. */

import {
  connectClient,
  openProxy,
  PeerError,
  serveAgent,
  startAgent,
  streamTransport,
  type Client,
  type ClientSession,
} from "../index.ts";
import type { Reply, Subject, SubjectClient, SubjectSession } from "./test-subject.ts";

export const ownSubject: Subject = {
  name: "this library",

  async connectClient({ input, output }, { maxMessageBytes, onNotification } = {}) {
    return asking(
      await connectClient({
        transport: streamTransport(input, output, { maxMessageBytes }),
        serve: { notification: ({ method, params }) => onNotification?.(method, params) },
        onStray: ({ method, params }) => void onNotification?.(method, params),
      }),
    );
  },

  async spawnClient(command, args, where) {
    const agent = await startAgent({ command: [command, ...args], ...where });
    const client = asking(await connectClient({ transport: agent.transport, exit: () => agent.exit() }));
    return {
      ...client,
      async close() {
        await client.close();
        await agent.close();
      },
    };
  },

  serveAgent({ input, output }, handlers) {
    const { "session/new": newSession, "session/prompt": prompt } = handlers;
    serveAgent({
      transport: streamTransport(input, output),
      handlers: () => ({
        initialize: () => ({}),
        newSession: async (params) => (await newSession?.(params)) ?? { sessionId: "unasked" },
        prompt: async (params) => (await prompt?.(params)) ?? { stopReason: "end_turn" },
      }),
    });
  },

  serveProxy(client, agent, beforeAnswer) {
    openProxy(
      { transport: streamTransport(client.input, client.output) },
      { transport: streamTransport(agent.input, agent.output) },
      {
        fromClient: {
          async "session/new"(request) {
            const response = await request.forward();
            await beforeAnswer();
            return response;
          },
        },
      },
    );
  },
};

function asking(client: Client): SubjectClient {
  return {
    request: (method, params) => reply(client, method, params),
    newSession: async ({ cwd }) => reading(await client.session(cwd).create()),
    close: () => client.close(),
  };
}

async function reply(client: Client, method: string, params: unknown): Promise<Reply> {
  try {
    return { result: await client.request(method, params) };
  } catch (error) {
    if (error instanceof PeerError) return { error: error.raw };
    return { failure: error instanceof Error ? error : new Error(String(error)) };
  }
}

function reading(session: ClientSession): SubjectSession {
  return {
    prompt: (text) => void session.prompt(text),
    async next() {
      const item = await session.next();
      return item.kind === "update" ? item.notification : item;
    },
  };
}
