import { describe, expect, it } from "vitest";
import type { AcpScript } from "../../testing/acp-agent/index.ts";
import type { ProxyOptions } from "../index.ts";
import { until } from "../proxy/test-traffic.ts";
import { fuzz, pause, type Random } from "../../programs/test-fuzz.ts";
import { conducted, nested, type Chain, type ChainOptions } from "./test-chain.ts";
import type { HopMessage } from "./test-hop.ts";
import { settle, type LineClient, type Message } from "./test-line-client.ts";

const PERMISSION = "session/request_permission";
const CANCEL = "$/cancel_request";

const SCRIPT: AcpScript = {
  ids: "string",
  prompts: [{ when: "Go", steps: [{ say: "one" }, { permission: {} }, { say: "two" }] }],
  otherwise: [{ say: "next" }],
};

/** The message in transit when the cancel comes, in the order of the turn. */
const POINTS = [
  ["the prompt", "request", "session/prompt"],
  ["the first update", "notification", "session/update"],
  ["the permission", "request", PERMISSION],
  ["the answer to the permission", "response", PERMISSION],
  ["the response", "response", "session/prompt"],
] as const satisfies readonly (readonly [string, HopMessage["kind"], string])[];
type Point = (typeof POINTS)[number];

const CANCELLERS = ["session/cancel", "$/cancel_request", "the agent", "both ends"] as const;
type Canceller = (typeof CANCELLERS)[number];

/** The agent can cancel only a request that it has sent. */
function cancellersAt([, kind, method]: Point): readonly Canceller[] {
  return method === PERMISSION || kind === "response" ? CANCELLERS : ["session/cancel", "$/cancel_request"];
}

/** Handlers in every proxy that pass everything on unchanged. */
const HANDLES: ProxyOptions = {
  prompt: (request) => Promise.resolve({ ...request }),
  fromClient: { "session/new": (request) => request.forward() },
  fromAgent: { [PERMISSION]: async (request) => request.forward() },
};

const CHAINS: readonly (readonly [string, (options: ChainOptions) => Chain, ProxyOptions])[] = [
  ["a conductor", conducted, {}],
  ["a conductor, with handlers", conducted, HANDLES],
  ["byte streams", nested, {}],
  ["byte streams, with handlers", nested, HANDLES],
];

describe.each(CHAINS)("through three proxies of %s", (_, open, proxy) => {
  const opened = (user: User): Chain =>
    open({
      script: SCRIPT,
      proxies: [proxy, proxy, proxy],
      onMessage: (message, client) => user.onMessage(message, client),
    });

  for (const point of POINTS) {
    it.each(cancellersAt(point))(`ends once after a cancel by %s with ${point[0]} at any hop`, async (canceller) => {
      for (const place of open === conducted ? CONDUCTED : NESTED) {
        const user = new User(point[1] === "response");
        await using chain = opened(user);
        const turn = await begin(chain, user);
        const gate = holdAt(chain, point, place);
        const prompt = chain.client.prompt(turn.sessionId);
        await gate.reached;
        cancel(turn, prompt, canceller);
        await settle();
        gate.release();
        await ended(turn, prompt, canceller).catch((cause: unknown) => {
          throw new Error(`at hop ${place.hop}, crossing ${place.crossing}`, { cause });
        });
      }
    });
  }

  it.each(CANCELLERS)(
    "ends once after a cancel by %s while the user sees the permission request",
    async (canceller) => {
      const user = new User(false);
      await using chain = opened(user);
      const turn = await begin(chain, user);
      const prompt = chain.client.prompt(turn.sessionId);
      await chain.client.called(PERMISSION);
      cancel(turn, prompt, canceller);
      await ended(turn, prompt, canceller);
    },
  );

  it("ends everything once, no matter who cancels, when, and how slow each hop is", async () => {
    await fuzz(40, async (random) => {
      const user = new User(random.chance(0.5));
      await using chain = opened(user);
      const turn = await begin(chain, user);
      for (const hop of chain.hops) hop.dawdle(random);
      const prompt = chain.client.prompt(turn.sessionId);
      const canceller = random.pick(...CANCELLERS);
      await moment(random, chain, canceller);
      cancel(turn, prompt, canceller);
      await ended(turn, prompt, canceller);
    });
  }, 600_000);
});

/** Waits for a random moment after the prompt; if the agent cancels, after its permission request. */
async function moment(random: Random, { hops }: Chain, canceller: Canceller): Promise<void> {
  const asked = (): boolean => hops.at(-1)?.messages.some(({ method }) => method === PERMISSION) === true;
  const byAgent = canceller === "the agent" || canceller === "both ends";
  do await pause(random);
  while (byAgent && !asked());
  for (let times = random.below(20); times > 0; times -= 1) await pause(random);
}

interface HopPosition {
  readonly hop: number;
  /** In a conductor's chain each message crosses a proxy's hop twice: to the proxy and from it. */
  readonly crossing: number;
}

const NESTED: readonly HopPosition[] = [0, 1, 2, 3].map((hop) => ({ hop, crossing: 0 }));
const CONDUCTED: readonly HopPosition[] = [
  ...NESTED,
  { hop: 4, crossing: 0 },
  ...[1, 2, 3].map((hop) => ({ hop, crossing: 1 })),
];

/** Answers the permission at once, or as the protocol requires after a cancel. */
class User {
  readonly #atOnce: boolean;
  readonly #asked = new Set<unknown>();
  #cancelled = false;

  constructor(atOnce: boolean) {
    this.#atOnce = atOnce;
  }

  onMessage({ id, method, params }: Message, client: LineClient): void {
    if (method === PERMISSION) {
      this.#asked.add(id);
      if (this.#atOnce)
        this.#answer(client, id, { result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
      else if (this.#cancelled) this.cancelTurn(client);
    } else if (method === CANCEL) {
      const { requestId } = params as { requestId: unknown };
      this.#answer(client, requestId, { error: { code: -32800, message: "cancelled" } });
    }
  }

  cancelTurn(client: LineClient): void {
    this.#cancelled = true;
    for (const id of this.#asked) this.#answer(client, id, { result: { outcome: { outcome: "cancelled" } } });
  }

  #answer(client: LineClient, id: unknown, answer: Message): void {
    if (this.#asked.delete(id)) client.send({ id, ...answer });
  }
}

interface Turn {
  readonly chain: Chain;
  readonly user: User;
  readonly sessionId: string;
}

async function begin(chain: Chain, user: User): Promise<Turn> {
  await chain.client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  return { chain, user, sessionId: await chain.client.newSession() };
}

function holdAt({ hops }: Chain, [, kind, method]: Point, { hop, crossing }: HopPosition) {
  let passed = 0;
  const held = hops[hop]?.hold((message) => {
    if (message.kind !== kind || message.method !== method) return false;
    passed += 1;
    return passed > crossing;
  });
  if (held === undefined) throw new Error(`there is no hop ${hop}`);
  return held;
}

function cancel({ chain: { client, hops }, user, sessionId }: Turn, prompt: string, canceller: Canceller): void {
  if (canceller === "$/cancel_request") client.send({ method: CANCEL, params: { requestId: prompt } });
  if (canceller === "session/cancel" || canceller === "both ends") {
    client.send({ method: "session/cancel", params: { sessionId } });
    user.cancelTurn(client);
  }
  if (canceller === "the agent" || canceller === "both ends") {
    hops.at(-1)?.inject({ method: CANCEL, params: { requestId: "agent-1" } });
  }
}

/** Checks that the prompt ends once, as expected; nothing is left open, and the next prompt works. */
async function ended({ chain, sessionId }: Turn, prompt: string, canceller: Canceller): Promise<void> {
  const { client, hops, agent } = chain;
  const { result, error } = await client.answerTo(prompt);
  const how = error?.code ?? (result as { stopReason: string }).stopReason;
  const answered = client.messages.some(({ method }) => method === PERMISSION) && client.text.includes("selected");
  if (canceller === "$/cancel_request") expect([-32800, ...(answered ? ["end_turn"] : [])]).toContain(how);
  else if (canceller === "the agent") expect(how).toBe("end_turn");
  else expect(["cancelled", ...(answered ? ["end_turn"] : [])]).toContain(how);

  const before = client.text;
  const next = await client.answerTo(client.prompt(sessionId, "Again"));
  expect(next.result).toEqual({ stopReason: "end_turn" });
  expect(client.text).toBe([...(before === "" ? [] : [before]), "next"].join("|"));
  await until("all answers", () => hops.every(({ open }) => open.length === 0));
  await settle();
  expect(client.answersTo(prompt)).toHaveLength(1);
  expect(hops.flatMap(({ problems }) => problems)).toEqual([]);
  expect(agent.problems).toEqual([]);
}
