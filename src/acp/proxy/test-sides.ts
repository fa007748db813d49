/**
 * A proxy with a line-based client on one side and a scripted agent on the other: between two transports, or in a
 * chain.
 */
import { PassThrough } from "node:stream";
import { startAcpAgent, type AcpAgent, type AcpScript } from "../../testing/acp-agent/index.ts";
import { running } from "../conductor/test-chain.ts";
import { LineClient } from "../conductor/test-line-client.ts";
import {
  openConductor,
  openProxy,
  proxyComponent,
  streamTransport,
  transportPair,
  type ProxyOptions,
  type Transport,
} from "../index.ts";

export interface Sides extends AsyncDisposable {
  readonly client: LineClient;
  readonly agent: AcpAgent;
  /** Closes what is between them. */
  close(): Promise<void>;
}

export type OpenSides = (script: AcpScript, ...proxies: readonly ProxyOptions[]) => Sides;

/** With several proxies, each is the agent of the one before it. */
export const direct: OpenSides = (script, ...proxies) =>
  between(script, (client, agent) => {
    let above = client;
    const opened = proxies.map((options, place) => {
      const [upper, lower] = transportPair();
      const below = place === proxies.length - 1 ? agent : upper;
      const proxy = openProxy({ transport: above }, { transport: below }, options);
      above = lower;
      return proxy;
    });
    return async () => {
      await Promise.all(opened.map((proxy) => proxy.close()));
    };
  });

export const conducted: OpenSides = (script, ...proxies) =>
  between(script, (client, agent) => {
    const conductor = openConductor({
      client: { transport: client },
      proxies: proxies.map((options, place) => proxyComponent(`proxy ${place + 1}`, options)),
      agent: running("agent", agent),
    });
    return () => conductor.close();
  });

function between(script: AcpScript, connect: (client: Transport, agent: Transport) => () => Promise<void>): Sides {
  const [near, far] = transportPair();
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
  const close = connect(far, streamTransport(fromAgent, toAgent));
  const client = new LineClient(near);
  return {
    client,
    agent,
    close,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await close();
      await agent.close();
    },
  };
}
