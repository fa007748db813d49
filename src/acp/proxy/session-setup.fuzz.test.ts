import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fuzz, type Random } from "../../programs/test-fuzz.ts";
import type { ClientRequestHandler, ProxyOptions } from "../index.ts";
import { pause, throughChain, throughProxy, type Ends } from "./test-ends.ts";
import { until, type RecordedMessage } from "./test-traffic.ts";

/** Cases of each kind; `ROOKERY_FUZZ=10000` is the long run. */
const CASES = 100;

type Method = "session/new" | "session/fork" | "session/load" | "session/resume";

interface SetUp {
  readonly name: string;
  readonly method: Method;
}

const METHODS: readonly [Method, ...Method[]] = ["session/new", "session/new", "session/fork", "session/load"];

/** Picks a random way to set a session up, for each proxy of a chain. */
function anyWay(random: Random): ClientRequestHandler {
  const slowly = async <T>(work: () => Promise<T>): Promise<T> => {
    await pause(random);
    const result = await work();
    await pause(random);
    return result;
  };
  return (request) =>
    random.pick<() => unknown>(
      () => request.forward(),
      () => slowly(() => request.forward()),
      () => slowly(() => request.startProxy()),
      async () => {
        const held = await request.startSession();
        await pause(random);
        held.proxyRemaining();
      },
      async () => {
        await pause(random);
        const held = await request.startSession();
        held.proxyRemaining();
      },
    )();
}

const options = (random: Random): ProxyOptions => {
  const handler = anyWay(random);
  const methods = [...new Set<string>([...METHODS, "session/resume"])].filter(() => random.chance(0.9));
  return { fromClient: Object.fromEntries(methods.map((method) => [method, handler])) };
};

/**
 * Sets several sessions up at once; the agent sends messages of all of them before, between and after its responses.
 */
async function setUpAtOnce(random: Random, { client, agent }: Ends): Promise<void> {
  client.notify("_ext/hello", {}); // starts the chain
  await client.flush();
  await until("the greeting", () => agent.seen.length === 1);
  const setUps = Array.from({ length: 2 + random.below(4) }, (_, at): SetUp => ({
    name: `s${at}`,
    method: random.pick<Method>(...METHODS, "session/resume"),
  }));
  let [count, asked] = [0, 0];
  const waiting = [...setUps];
  for (const { name, method } of setUps) {
    const id = { "session/new": undefined, "session/fork": "source", "session/load": name, "session/resume": name };
    client.request(method, { cwd: "/w", mcpServers: [], name, ...(id[method] && { sessionId: id[method] }) });
  }
  await client.flush();
  const isOf = (name: string) => (params: unknown) => fieldOf(params, "name") === name;
  const hasCome = ({ name }: SetUp): boolean => agent.owed.some(({ params }) => isOf(name)(params));
  await until("all setups", () => setUps.every(hasCome));
  const say = async (): Promise<void> => {
    const { name } = random.pick(...(setUps as [SetUp, ...SetUp[]]));
    const params = { sessionId: name, n: (count += 1), update: { sessionUpdate: "x", value: random.value() } };
    if (random.chance(0.7)) return agent.notify(random.pick("session/update", "session/update", "_ext/told"), params);
    agent.request(random.pick("session/request_permission", "fs/read_text_file"), params);
    asked += 1;
    if (random.chance(0.7)) return;
    await agent.flush(); // an agent that continues only after the answer
    const { n } = params;
    await until("the request", () => client.owed.some((request) => fieldOf(request.params, "n") === n));
  };
  for (;;) {
    for (let left = random.below(4); left > 0; left -= 1) await say();
    if (random.chance(0.4)) {
      await agent.flush();
      await pause(random);
    }
    const [next] = waiting.splice(random.below(waiting.length), 1);
    if (next === undefined) break;
    agent.answerTo(next.method, { sessionId: next.name, from: next.name, extra: random.value() }, isOf(next.name));
  }
  await agent.flush();
  await until("everything", () => client.seen.length === agent.sent.length);
  for (const { name, method } of setUps) {
    const isNamedByAgent = method === "session/new" || method === "session/fork";
    if (isNamedByAgent) expectInOrder(of(name, client.seen), of(name, agent.sent));
    else expect(of(name, client.seen)).toEqual(of(name, agent.sent));
  }
  expect(client.owed).toHaveLength(asked);
  while (client.answer(() => ({ content: "" })));
  await client.flush();
  for (let turns = 0; agent.unanswered > 0; turns += 1) {
    if (turns > 2_000) throw new Error("not everything was answered");
    await tick();
  }
}

/** Messages before the response may arrive on either side of it; everything else arrives as it was sent. */
function expectInOrder(seen: readonly RecordedMessage[], sent: readonly RecordedMessage[]): void {
  const isResponse = ({ kind }: RecordedMessage): boolean => kind === "response";
  expect(seen.filter((message) => !isResponse(message))).toEqual(sent.filter((message) => !isResponse(message)));
  expect(seen.filter(isResponse)).toEqual(sent.filter(isResponse));
  expect(seen.findIndex(isResponse)).toBeLessThanOrEqual(sent.findIndex(isResponse));
}

function of(name: string, messages: readonly RecordedMessage[]): RecordedMessage[] {
  return messages.filter(({ value }) => [fieldOf(value, "sessionId"), fieldOf(value, "from")].includes(name));
}

function fieldOf(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | null)?.[key];
}

describe.each([
  ["a proxy", throughProxy],
  ["a chain of proxies", throughChain],
])("several sessions that are set up at once through %s", (_, open) => {
  it("reach the client in order, and their requests pass before the setup is answered", async () => {
    await fuzz(CASES, async (random) => {
      const ends = open(random, options(random));
      await setUpAtOnce(random, ends);
      await ends.close();
    });
  }, 600_000);
});
