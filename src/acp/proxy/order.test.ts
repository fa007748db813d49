import { PassThrough } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openConductor, openProxy, proxyComponent, streamTransport, type ProxyOptions } from "../index.ts";
import { Random } from "../test-fuzz.ts";
import { RawPeer, until, type Seen } from "./test-traffic.ts";

/** How many cases; `ROOKERY_FUZZ=10000` is the long run. */
const CASES = Number(process.env["ROOKERY_FUZZ"] ?? 300);
const FIRST = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

interface Ends {
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

function throughProxy(random: Random, options: ProxyOptions): Ends {
  return between(random, (up, down) => {
    const proxy = openProxy({ transport: streamTransport(...up) }, { transport: streamTransport(...down) }, options);
    return () => proxy.close();
  });
}

function throughChain(random: Random, options: ProxyOptions): Ends {
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

/** A while that is sometimes none at all. */
async function pause(random: Random): Promise<void> {
  for (let turns = random.pick(0, 0, 1, 3); turns > 0; turns -= 1)
    await (random.chance(0.5) ? tick() : Promise.resolve());
}

/** Random messages both ways until each has said its part and everything is answered. */
async function converse(random: Random, { client, agent }: Ends): Promise<void> {
  client.notify("_ext/hello", {}); // a chain starts when it is needed
  await client.flush();
  await until("the greeting", () => agent.seen.length === 1);
  let count = 0;
  const params = () => ({ n: (count += 1), value: random.value(), sessionId: `s${random.below(3)}` });
  const result = ({ method }: { method: string }) =>
    method === "session/new"
      ? { sessionId: `new-${(count += 1)}`, value: random.value() }
      : { value: random.value(), n: (count += 1) };
  const act = (peer: RawPeer, requests: readonly [string, ...string[]]) => {
    const what = random.below(10);
    if (what < 5)
      peer.notify(random.pick("session/update", "_ext/told"), { ...params(), update: { sessionUpdate: "x" } });
    else if (what < 7) peer.request(random.pick(...requests), { ...params(), cwd: "/w", mcpServers: [] });
    else peer.answer(result);
  };
  for (let rounds = 2 + random.below(6); rounds > 0; rounds -= 1) {
    for (let acts = random.below(8); acts > 0; acts -= 1) act(client, ["session/prompt", "session/new", "_ext/ask"]);
    for (let acts = random.below(12); acts > 0; acts -= 1) act(agent, ["session/request_permission", "_ext/ask"]);
    await Promise.all([client.flush(), agent.flush()]);
    await pause(random);
  }
  const settle = async () => {
    while (client.answer(result));
    while (agent.answer(result));
    await Promise.all([client.flush(), agent.flush()]);
    return client.unanswered === 0 && agent.unanswered === 0;
  };
  for (let turns = 0; !(await settle()); turns += 1) {
    if (turns > 2_000) throw new Error("not everything was answered");
    await tick();
  }
  await until("everything", () => client.seen.length === agent.sent.length && agent.seen.length === client.sent.length);
}

/** Handlers that dawdle before and after they pass a request on. */
const slow = (random: Random): ProxyOptions => ({
  fromClient: {
    "session/new": async (request) => {
      await pause(random);
      const response = await request.forward();
      await pause(random);
      return response;
    },
    "_ext/ask": async (request) => {
      await pause(random);
      return request.forward();
    },
  },
  fromAgent: {
    "session/request_permission": async (request) => {
      await pause(random);
      const response = await request.forward();
      await pause(random);
      return response;
    },
  },
});

const seeds = Array.from({ length: CASES }, (_, index) => FIRST + index);

describe.each([
  ["a proxy that looks on", throughProxy, () => ({})],
  ["a proxy that dawdles", throughProxy, slow],
  ["a chain of proxies", throughChain, () => ({})],
  ["a chain of proxies that dawdle", throughChain, slow],
] as const)("through %s", (_, open, options) => {
  it("nothing is lost, doubled, changed or overtaken, either way", async () => {
    for (const seed of seeds) {
      const random = new Random(seed);
      const ends = open(random, options(random));
      await converse(random, ends).catch((cause: unknown) => {
        throw new Error(`seed ${seed}`, { cause });
      });
      expect({ seed, seen: ends.client.seen }).toEqual({ seed, seen: ends.agent.sent });
      expect({ seed, seen: ends.agent.seen }).toEqual({ seed, seen: ends.client.sent });
      await ends.close();
    }
  }, 600_000);
});

describe("a session that the proxy holds and hands over at some moment", () => {
  it("reaches the client whole: the agent's own response first, then all that came, in order", async () => {
    for (const seed of seeds) {
      const random = new Random(seed);
      const ends = throughProxy(random, {
        fromClient: {
          "session/new": async (request) => {
            const held = await request.startSession();
            if (random.chance(0.5)) held.session.prompt("warm up").response.catch(() => undefined);
            await pause(random);
            held.proxyRemaining();
          },
        },
      });
      await handedOver(random, ends, seed);
      await ends.close();
    }
  }, 600_000);
});

async function handedOver(random: Random, { client, agent }: Ends, seed: number): Promise<void> {
  client.request("session/new", { cwd: "/w", mcpServers: [] });
  await client.flush();
  await until("the set-up", () => agent.owed.length > 0);
  const response = { sessionId: "held", extra: random.value() };
  const expected: Seen[] = [];
  const say = (n: number) => {
    const update = { sessionId: "held", update: { sessionUpdate: "x", n, value: random.value() } };
    if (random.chance(0.25)) agent.request("session/request_permission", update);
    else agent.notify("session/update", update);
  };
  for (let early = random.below(3); early > 0; early -= 1) say(-early);
  agent.answer(() => response);
  for (let more = 1 + random.below(10); more > 0; more -= 1) {
    say(more);
    if (random.chance(0.3)) {
      await agent.flush();
      await pause(random);
    }
  }
  await agent.flush();
  const mine = (seen: Seen) => seen.kind !== "response" || JSON.stringify(seen.value) === JSON.stringify(response);
  const sent = agent.sent.filter((seen) => mine(seen) && seen.kind !== "response");
  expected.push({ kind: "response", value: response }, ...sent);
  await until(`the hand-over (seed ${seed})`, () => client.seen.length === expected.length);
  expect({ seed, seen: client.seen }).toEqual({ seed, seen: expected });
  while (client.answer(() => ({ outcome: { outcome: "cancelled" } })));
  await client.flush();
  await until(`the answers to the agent (seed ${seed})`, () => agent.unanswered === 0);
}
