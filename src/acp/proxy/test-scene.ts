/** Setup of the proxy's tests: our client, a proxy, and a scripted agent, each on its own streams. */
import { PassThrough } from "node:stream";
import { startAcpAgent, type AcpScript } from "../../testing/acp-agent/index.ts";
import { connectClient, openProxy, streamTransport, type ClientOptions, type ProxyOptions } from "../index.ts";

export async function openProxied(script: AcpScript, options: ProxyOptions = {}, client: Partial<ClientOptions> = {}) {
  const [toProxy, fromProxy, toAgent, fromAgent] = Array.from({ length: 4 }, () => new PassThrough()) as [
    PassThrough,
    PassThrough,
    PassThrough,
    PassThrough,
  ];
  const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
  const proxy = openProxy(
    { transport: streamTransport(toProxy, fromProxy) },
    { transport: streamTransport(fromAgent, toAgent) },
    options,
  );
  const connected = await connectClient({ transport: streamTransport(fromProxy, toProxy), ...client });
  return {
    agent,
    proxy,
    client: connected,
    async [Symbol.asyncDispose]() {
      await connected.close();
      await proxy.close();
      await agent.close();
    },
  };
}
