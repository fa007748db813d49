/** Setup of the conductor's tests: our client, a chain, and a scripted agent at its end. */
import { PassThrough } from "node:stream";
import { startAcpAgent, type AcpScript } from "../../testing/acp-agent/index.ts";
import {
  connectClient,
  openConductor,
  streamTransport,
  transportPair,
  type ClientOptions,
  type Component,
} from "../index.ts";

export function scriptedComponent(script: AcpScript, name = "the agent"): Component {
  return {
    name,
    start() {
      const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
      const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
      return Promise.resolve({
        transport: streamTransport(fromAgent, toAgent),
        [Symbol.asyncDispose]: () => agent.close(),
      });
    },
  };
}

export async function openChain(
  proxies: readonly Component[],
  agent: Component | undefined,
  client: Partial<ClientOptions> = {},
  deaths: string[] = [],
) {
  const [near, far] = transportPair();
  const conductor = openConductor({ client: { transport: far }, proxies, agent, onDeath: (name) => deaths.push(name) });
  const connected = await connectClient({ transport: near, ...client });
  return {
    conductor,
    client: connected,
    deaths,
    async [Symbol.asyncDispose]() {
      await connected.close();
      await conductor.closed;
    },
  };
}
