/** Two raw peers at the ends of a proxy or a chain of proxies, for fuzzing. */
import { PassThrough } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import type { Random } from "../../programs/test-fuzz.ts";
import { openConductor, openProxy, proxyComponent, streamTransport, type ProxyOptions } from "../index.ts";
import { RawPeer } from "./test-traffic.ts";

export interface Ends {
  readonly client: RawPeer;
  readonly agent: RawPeer;
  close(): Promise<void>;
}

function between(
  random: Random,
  connect: (up: [PassThrough, PassThrough], down: [PassThrough, PassThrough]) => () => Promise<void>,
): Ends {
  const [toClient, toAgent] = [new PassThrough(), new PassThrough()];
  const client = new RawPeer("client", toClient, random);
  const agent = new RawPeer("agent", toAgent, random);
  const close = connect([client.output, toClient], [agent.output, toAgent]);
  return { client, agent, close };
}

export function throughProxy(random: Random, options: ProxyOptions): Ends {
  return between(random, (up, down) => {
    const proxy = openProxy({ transport: streamTransport(...up) }, { transport: streamTransport(...down) }, options);
    return () => proxy.close();
  });
}

export function throughChain(random: Random, options: ProxyOptions): Ends {
  return between(random, (up, down) => {
    const proxies = Array.from({ length: 1 + random.below(3) }, (_, place) =>
      proxyComponent(`proxy ${place}`, options),
    );
    const agent = {
      name: "agent",
      start: () =>
        Promise.resolve({ transport: streamTransport(...down), [Symbol.asyncDispose]: () => Promise.resolve() }),
    };
    const conductor = openConductor({ client: { transport: streamTransport(...up) }, proxies, agent });
    return () => conductor.close();
  });
}

/** Waits a random number of turns, sometimes none. */
export async function pause(random: Random): Promise<void> {
  for (let turns = random.pick(0, 0, 1, 3); turns > 0; turns -= 1)
    await (random.chance(0.5) ? tick() : Promise.resolve());
}
