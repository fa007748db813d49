/** Chains of three proxies between a line-based client and a scripted agent, with an observer at every hop. */
import { PassThrough } from "node:stream";
import { startAcpAgent, type AcpAgent, type AcpScript } from "../../testing/acp-agent/index.ts";
import {
  openConductor,
  openProxy,
  proxyComponent,
  streamTransport,
  transportPair,
  type Component,
  type ProxyDialect,
  type ProxyOptions,
  type Transport,
} from "../index.ts";
import { Hop } from "./test-hop.ts";
import { LineClient, type Message } from "./test-line-client.ts";

export interface Chain extends AsyncDisposable {
  readonly client: LineClient;
  /** Ordered from the client to the agent. */
  readonly hops: readonly Hop[];
  readonly agent: AcpAgent;
}

export interface ChainOptions {
  readonly script: AcpScript;
  readonly proxies: readonly ProxyOptions[];
  readonly onMessage?: (message: Message, client: LineClient) => void;
}

/** Through a conductor whose proxies alternate between the two dialects. */
export function conducted({ script, proxies, onMessage }: ChainOptions): Chain {
  const [near, far] = transportPair();
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
  const first = new Hop("client");
  const last = new Hop("agent");
  const between = proxies.map((_, place) => new Hop(`proxy ${place + 1}`));
  const component = (options: ProxyOptions, place: number): Component => {
    const dialect: ProxyDialect = place % 2 === 0 ? "official" : "rust";
    return watched({ ...proxyComponent(`proxy ${place + 1}`, options), dialect }, between[place]);
  };
  const conductor = openConductor({
    client: { transport: first.wrap(far) },
    proxies: proxies.map(component),
    agent: watched(running("agent", streamTransport(fromAgent, toAgent)), last),
  });
  const client = new LineClient(near, onMessage);
  return {
    client,
    hops: [first, ...between, last],
    agent,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await conductor.close();
      await agent.close();
    },
  };
}

/** One proxy in front of the other, each on its own byte streams. */
export function nested({ script, proxies, onMessage }: ChainOptions): Chain {
  const pipes = Array.from({ length: proxies.length + 1 }, () => ({ up: new PassThrough(), down: new PassThrough() }));
  const hops = pipes.map((_, place) => new Hop(`hop ${place}`));
  const pipeAt = (place: number): { up: PassThrough; down: PassThrough } => pipes[place] ?? fail();
  const upper = (place: number): Transport => streamTransport(pipeAt(place).up, pipeAt(place).down);
  const lower = (place: number): Transport => streamTransport(pipeAt(place).down, pipeAt(place).up);
  const opened = proxies.map((options, place) =>
    openProxy(
      { transport: (hops[place] ?? fail()).wrap(lower(place)) },
      {
        transport: place === proxies.length - 1 ? (hops[place + 1] ?? fail()).wrap(upper(place + 1)) : upper(place + 1),
      },
      options,
    ),
  );
  const { up, down } = pipeAt(proxies.length);
  const agent = startAcpAgent({ script, input: down, output: up });
  const client = new LineClient(upper(0), onMessage);
  return {
    client,
    hops,
    agent,
    async [Symbol.asyncDispose]() {
      client.destroy();
      for (const proxy of opened) await proxy.close();
      await agent.close();
    },
  };
}

/** A component that already runs. */
export function running(name: string, transport: Transport): Component {
  return {
    name,
    start: () => Promise.resolve({ transport, [Symbol.asyncDispose]: () => Promise.resolve() }),
  };
}

export function watched(component: Component, hop: Hop = fail(), ended: () => void = () => undefined): Component {
  return {
    ...component,
    async start(options) {
      const started = await component.start(options);
      return {
        exit: started.exit,
        transport: hop.wrap(started.transport),
        async [Symbol.asyncDispose]() {
          await started[Symbol.asyncDispose]();
          ended();
        },
      };
    },
  };
}

function fail(): never {
  throw new Error("there is none");
}
