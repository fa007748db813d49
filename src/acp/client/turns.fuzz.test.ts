import { expect, it } from "vitest";
import type { AcpStep, AcpTurnScript } from "../../testing/acp-agent/index.ts";
import type { ClientSession, UpdateItem } from "../index.ts";
import { fuzz, pause, shredder, type Random } from "../../programs/test-fuzz.ts";
import { openScene, describeItems } from "./test-scene.ts";

const WAYS = ["reads", "reads text", "breaks off", "waits for the response", "cancels"] as const;
type Way = (typeof WAYS)[number];

interface Plan {
  readonly name: string;
  readonly way: Way;
  readonly texts: readonly string[];
  readonly script: AcpTurnScript;
}

/** A turn in which the agent sends numbered texts, sometimes asks for permission, and sometimes sends a late tail. */
function plan(random: Random, name: string): Plan {
  const way = random.pick<Way>(...WAYS);
  const large = random.chance(0.1) && way !== "waits for the response";
  const padding = "x".repeat(large ? 60_000 : random.below(200));
  const texts = Array.from({ length: random.below(40) }, (_, index) => `${name}:${index};${padding}`);
  const steps = texts.flatMap((text): AcpStep[] =>
    random.chance(0.1) ? [{ permission: { echo: false } }, { say: text }] : [{ say: text }],
  );
  const tail = Array.from({ length: random.below(3) }, (_, index) => ({ say: `${name}:tail ${index};` }));
  return { name, way, texts, script: { when: `[${name}]`, steps, after: tail } };
}

/** A tail that was in transit when the next prompt was sent cannot be told from that prompt's own updates. */
const TAIL = /\d+\.\d+:tail \d+;/g;

/** Runs one turn in the given way and checks what arrived. */
async function live(
  session: ClientSession,
  { name, way, texts }: Plan,
  random: Random,
  handled?: string[],
): Promise<void> {
  const turn = session.prompt(`[${name}]`);
  if (handled !== undefined) {
    if (way === "cancels") await turn.cancel();
    await turn.response;
    const own = handled.filter((text) => text.startsWith(`${name}:`) && !text.match(TAIL));
    expect(own).toEqual(way === "cancels" ? texts.slice(0, own.length) : texts);
  } else if (way === "reads text") {
    expect((await turn.readText()).replaceAll(TAIL, "")).toBe(texts.join(""));
  } else if (way !== "waits for the response") {
    const most = random.below(texts.length + 1);
    const seen: string[] = [];
    for await (const item of turn) {
      if (item.kind === "update" && item.when === "turn") seen.push(...textsOf(item));
      if (random.chance(0.1)) await pause(random);
      if (way === "breaks off" && seen.length >= most) break;
      if (way === "cancels" && seen.length >= most) await turn.cancel();
    }
    const own = seen.filter((text) => !text.match(TAIL));
    expect(own).toEqual(way === "reads" ? texts : texts.slice(0, own.length));
  }
  await turn.response;
}

function textsOf(item: UpdateItem): string[] {
  return describeItems([item]).map((word) => word.slice(item.when.length + 1));
}

/** Several sessions at once, each with several turns, some with an update handler instead of a reader. */
async function run(random: Random): Promise<void> {
  const plans = Array.from({ length: 1 + random.below(4) }, (_, session) =>
    Array.from({ length: 1 + random.below(5) }, (_, turn) => plan(random, `${session}.${turn}`)),
  );
  await using scene = await openScene(
    { prompts: plans.flat().map(({ script }) => script) },
    {
      serve: {
        permission: async () => {
          if (random.chance(0.5)) await pause(random);
          return { outcome: { outcome: "selected", optionId: "allow_once" } };
        },
      },
    },
    random.chance(0.5) ? { through: shredder(random) } : {},
  );
  await Promise.all(
    plans.map(async (turns) => {
      const handled = random.chance(0.3) ? ([] as string[]) : undefined;
      const builder = scene.client.session("/project");
      if (handled !== undefined) {
        const update = async (item: UpdateItem): Promise<void> => {
          if (random.chance(0.2)) await pause(random);
          handled.push(...textsOf(item));
        };
        builder.serve({ update });
      }
      const session = await builder.create();
      for (const turn of turns) await live(session, turn, random, handled);
    }),
  );
  expect(scene.agent.problems).toEqual([]);
}

it("delivers each session's turns completely and in order, however they are read", async () => {
  await fuzz(60, run);
}, 300_000);
