/** The scene of the client's tests: our client and a scripted agent on a pair of streams. */
import { PassThrough } from "node:stream";
import { startAcpAgent, type AcpScript } from "../../testing/acp-agent/index.ts";
import { connectClient, streamTransport, type ClientOptions } from "../index.ts";

export async function openScene(script: AcpScript, options: Partial<ClientOptions> = {}) {
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
  const client = await connectClient({ transport: streamTransport(fromAgent, toAgent), ...options });
  return {
    agent,
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await agent.close();
    },
  };
}
