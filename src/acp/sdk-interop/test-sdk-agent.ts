/** Our client and an agent of the official SDK, in one process or in two. */

import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { builtEnvironment } from "../../testing/environment.ts";
import { temporaryFolder } from "../../testing/repository.ts";
import { connectClient, startAgent, streamTransport, type Client, type SessionOptions } from "../index.ts";
import { sdkAgent } from "./sdk-agent/agent.mjs";

export type Carrier = "over streams" | "as a process";
export const CARRIERS: readonly Carrier[] = ["over streams", "as a process"];

export interface SdkScene extends AsyncDisposable {
  readonly client: Client;
  /** An empty directory for sessions. */
  readonly folder: string;
}

export interface SceneOptions {
  /** True if the agent requires authentication. */
  readonly locked?: boolean;
  readonly serve?: SessionOptions;
}

const PROGRAM = fileURLToPath(new URL("./sdk-agent/main.mjs", import.meta.url));

export async function openScene(carrier: Carrier, options: SceneOptions = {}): Promise<SdkScene> {
  const folder = await temporaryFolder();
  const { client, end } = await (carrier === "as a process" ? spawned(folder.path, options) : streamed(options));
  return {
    client,
    folder: folder.path,
    async [Symbol.asyncDispose]() {
      await client.close();
      await end();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function streamed({ locked = false, serve }: SceneOptions) {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const stream = ndJsonStream(
    Writable.toWeb(fromAgent) as WritableStream<Uint8Array>,
    Readable.toWeb(toAgent) as ReadableStream<Uint8Array>,
  );
  const agent = sdkAgent({ locked }).connect(stream);
  const client = await connectClient({ transport: streamTransport(fromAgent, toAgent), serve });
  return { client, end: () => agent.closed };
}

async function spawned(folder: string, { locked = false, serve }: SceneOptions) {
  const agent = await startAgent({
    command: [process.execPath, PROGRAM, ...(locked ? ["--locked"] : [])],
    cwd: folder,
    env: builtEnvironment({ home: folder }),
  });
  const client = await connectClient({ transport: agent.transport, exit: () => agent.exit(), serve });
  return { client, end: () => agent.close() };
}
