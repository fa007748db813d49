/** Adapts the official SDK to the scenarios. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import {
  agent,
  client,
  ndJsonStream,
  RequestError,
  type ActiveSession,
  type AgentConnection,
  type ClientConnection,
} from "@agentclientprotocol/sdk";
import type { Wire } from "./test-peer.ts";
import type { ClientOptions, Reply, Subject, SubjectClient, SubjectSession } from "./test-subject.ts";

const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} };

export const sdkSubject: Subject = {
  name: "the official SDK",
  connectClient: (wire, options) => connectClient(wire, options),

  async spawnClient(command, args, where) {
    const child = spawn(command, args, { ...where, stdio: "pipe" });
    const exited = once(child, "exit");
    const connected = await connectClient({ input: child.stdout, output: child.stdin });
    return {
      ...connected,
      async close() {
        await connected.close();
        child.kill();
        await exited;
      },
    };
  },

  serveAgent(wire, handlers) {
    const app = agent({ name: "subject" }).onRequest("initialize", () => ({ protocolVersion: 1 }));
    const { "session/new": newSession, "session/prompt": prompt } = handlers;
    if (newSession !== undefined) app.onRequest("session/new", ({ params }) => newSession(params));
    if (prompt !== undefined) app.onRequest("session/prompt", ({ params }) => prompt(params));
    app.connect(streamOf(wire));
  },

  serveProxy(clientWire, agentWire, beforeAnswer) {
    const upstream: ClientConnection = client({ name: "proxy" })
      .onNotification("*", ({ method, params }) => downstream.client.notify(method, params))
      .connect(streamOf(agentWire));
    const downstream: AgentConnection = agent({ name: "proxy" })
      .onRequest("*", async ({ method, params }) => {
        const response = await upstream.agent.request(method, params);
        await beforeAnswer();
        return response;
      })
      .connect(streamOf(clientWire));
  },
};

async function connectClient(wire: Wire, options: ClientOptions = {}): Promise<SubjectClient> {
  const app = client({ name: "subject" });
  const { onNotification, maxMessageBytes } = options;
  if (onNotification !== undefined) app.onNotification("*", ({ method, params }) => onNotification(method, params));
  const connection = app.connect(streamOf(wire, maxMessageBytes));
  await connection.agent.request("initialize", INITIALIZE);
  return {
    request: (method, params) => reply(connection, method, params),
    async newSession({ cwd }) {
      return reading(await connection.agent.buildSession(cwd).start());
    },
    async close() {
      connection.close();
      await connection.closed;
    },
  };
}

async function reply(connection: ClientConnection, method: string, params: unknown): Promise<Reply> {
  try {
    return { result: await connection.agent.request(method, params) };
  } catch (error) {
    if (error instanceof RequestError) return { error: error.toErrorResponse() };
    return { failure: error instanceof Error ? error : new Error(String(error)) };
  }
}

function reading(session: ActiveSession): SubjectSession {
  return {
    prompt(text) {
      session.prompt(text).catch(() => undefined); // the reader gets the error as well
    },
    async next() {
      const message = await session.nextUpdate();
      return message.kind === "session_update" ? message.notification : message.response;
    },
  };
}

function streamOf(wire: Wire, maxMessageBytes?: number) {
  return ndJsonStream(
    Writable.toWeb(wire.output) as WritableStream<Uint8Array>,
    Readable.toWeb(wire.input) as ReadableStream<Uint8Array>,
    maxMessageBytes === undefined ? {} : { maxMessageBytes },
  );
}
