import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ClientRequestHandler, ProxyOptions } from "../index.ts";
import { fuzz, type Random } from "../../programs/test-fuzz.ts";
import { pause, throughChain, throughProxy, type Ends } from "./test-ends.ts";
import { until, type RawPeer, type RecordedMessage } from "./test-traffic.ts";

/** Cases of each kind; `ROOKERY_FUZZ=10000` is the long run. */
const CASES = 100;

/** Sends random messages in both directions until everything is sent and answered. */
async function converse(random: Random, { client, agent }: Ends): Promise<void> {
  client.notify("_ext/hello", {}); // starts the chain
  await client.flush();
  await until("the greeting", () => agent.seen.length === 1);
  let count = 0;
  const params = () => ({ n: (count += 1), value: random.value(), sessionId: `s${random.below(3)}` });
  const result = ({ method, params: asked }: { method: string; params: unknown }) =>
    method === "session/new"
      ? { sessionId: `new-${(count += 1)}`, value: random.value() }
      : { value: random.value(), n: (count += 1), sessionId: idIn(asked, "sessionId") };
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

/** Handlers that wait before and after they pass a request on. */
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

/** Messages of one session keep their order. Requests for new sessions do not wait for one another. */
function bySession(messages: readonly RecordedMessage[]): Map<unknown, RecordedMessage[]> {
  const groups = new Map<unknown, RecordedMessage[]>();
  for (const message of messages) {
    const { method, value } = message;
    const key = method === "session/new" ? idIn(value, "n") : idIn(idIn(value, "extra") ?? value, "sessionId");
    groups.set(key, [...(groups.get(key) ?? []), message]);
  }
  return new Map([...groups].sort(([one], [other]) => String(one).localeCompare(String(other))));
}

describe.each([
  ["a passive proxy", throughProxy],
  ["a chain of proxies", throughChain],
])("through %s", (_, open) => {
  it("loses, duplicates, changes and reorders nothing in either direction", async () => {
    await fuzz(CASES, async (random) => {
      const ends = open(random, {});
      await converse(random, ends);
      expect(ends.client.seen).toEqual(ends.agent.sent);
      expect(ends.agent.seen).toEqual(ends.client.sent);
      await ends.close();
    });
  }, 600_000);
});

describe.each([
  ["a slow proxy", throughProxy],
  ["a chain of slow proxies", throughChain],
])("through %s", (_, open) => {
  it("loses, duplicates and changes nothing, and reorders nothing within a session", async () => {
    await fuzz(CASES, async (random) => {
      const ends = open(random, slow(random));
      await converse(random, ends);
      expect(bySession(ends.client.seen)).toEqual(bySession(ends.agent.sent));
      expect(bySession(ends.agent.seen)).toEqual(bySession(ends.client.sent));
      await ends.close();
    });
  }, 600_000);
});

describe.each([
  ["a proxy", throughProxy],
  ["a chain of proxies", throughChain],
])("sessions that %s holds and hands over at a random moment", (_, open) => {
  it("reach the client completely: the agent's response first, then everything in order", async () => {
    await fuzz(CASES, async (random) => {
      const ends = open(random, { fromClient: { "session/new": holding(random) } });
      await handedOver(random, ends);
      await ends.close();
    });
  }, 600_000);
});

function holding(random: Random): ClientRequestHandler {
  return async (request) => {
    const held = await request.startSession();
    if (random.chance(0.5)) held.session.prompt("warm up").response.catch(() => undefined);
    await pause(random);
    held.proxyRemaining();
  };
}

/** One session that the proxy holds, next to one that belongs to the client from the start. */
async function handedOver(random: Random, { client, agent }: Ends): Promise<void> {
  client.request("session/resume", { cwd: "/w", sessionId: "live" });
  await client.flush();
  await until("the first setup", () => agent.owed.length > 0);
  agent.answerTo("session/resume", { from: "live" });
  client.request("session/prompt", { sessionId: "live", prompt: [] });
  client.request("session/new", { cwd: "/w", mcpServers: [] });
  await Promise.all([agent.flush(), client.flush()]);
  await until("the second setup", () => agent.owed.some(({ method }) => method === "session/new"));
  const say = (): void => {
    const sessionId = random.pick("live", "held", "held");
    const params = { sessionId, update: { sessionUpdate: "x", value: random.value() } };
    if (random.chance(0.25)) agent.request("session/request_permission", params);
    else agent.notify(random.pick("session/update", "session/update", "_ext/told"), params);
  };
  const response = { sessionId: "held", from: "held", extra: random.value() };
  const pieces = async (most: number): Promise<void> => {
    for (let left = random.below(most); left > 0; left -= 1) {
      say();
      if (!random.chance(0.3)) continue;
      await agent.flush();
      await pause(random);
    }
  };
  await pieces(4);
  agent.answerTo("session/new", response);
  await pieces(8);
  agent.answerTo("session/prompt", { from: "live", stopReason: "end_turn" });
  await pieces(4);
  await agent.flush();
  const of = (name: string, seen: readonly RecordedMessage[]): RecordedMessage[] =>
    seen.filter(({ value }) => [idIn(value, "sessionId"), idIn(value, "from")].includes(name));
  const [live, held] = [of("live", agent.sent), of("held", agent.sent)];
  const seen = (): number => of("live", client.seen).length + of("held", client.seen).length;
  await until("the hand-over", () => seen() === live.length + held.length);
  expect(of("live", client.seen)).toEqual(live);
  const isResponse = ({ kind }: RecordedMessage): boolean => kind === "response";
  const lastEarlyRequest = held.slice(0, held.findIndex(isResponse)).findLastIndex(({ kind }) => kind === "request");
  const early = held.slice(0, lastEarlyRequest + 1); // a request and what precedes it do not wait for the response
  const rest = held.slice(lastEarlyRequest + 1);
  expect(of("held", client.seen)).toEqual([
    ...early,
    ...rest.filter(isResponse),
    ...rest.filter((seen) => !isResponse(seen)),
  ]);
  const settle = async (): Promise<boolean> => {
    while (client.answer(() => ({ outcome: { outcome: "cancelled" } })));
    while (agent.answer(() => ({ stopReason: "end_turn" })));
    await Promise.all([client.flush(), agent.flush()]);
    await tick();
    return client.unanswered === 0 && agent.unanswered === 0;
  };
  for (let turns = 0; !(await settle()); turns += 1) if (turns > 2_000) throw new Error("not everything was answered");
}

function idIn(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | null)?.[key];
}
