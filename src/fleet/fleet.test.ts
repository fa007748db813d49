import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { LogEvent } from "../domain/index.ts";
import { expectSwept, expectTheEnd } from "./test-checks.ts";
import { openFleet, type Fleet, type Told } from "./test-scene.ts";

/** `npm run soak` asks for 50. */
const KILLS = Number(process.env["ROOKERY_KILLS"] ?? (process.env["ROOKERY_SLOW"] === "1" ? 10 : 2));
/** Of one story: more, and it would mostly be starting. */
const KILLS_OF_A_STORY = 6;
const SEED = Number(process.env["ROOKERY_SEED"] ?? Date.now() % 1_000_000);
const LONGEST_DELAY_MS = 250;

/** Steps of a story, about: the first test counts them. */
let whole = 90;
/** What had happened last, as far as the story knew, and how often it was killed then. */
const after = new Map<string, number>();

/** The same tasks come to the same end in the next test, which `npm test` runs with a few kills. */
it.runIf(KILLS > 2)(
  "runs ten tasks that are watched, answered, stopped, resumed and merged over HTTP",
  { timeout: 120_000 },
  async () => {
    await using fleet = await openFleet();
    await fleet.start();
    const told = await fleet.play();
    await fleet.stop();
    await expectTheEnd(fleet, told);
    whole = new Set(told.events.flatMap(({ event }) => stepOf(event) ?? [])).size;
  },
);

it(
  `the same tasks come to the same end although the server is killed ${KILLS} times`,
  { timeout: 200_000 + KILLS * 10_000 },
  async () => {
    const random = randomOf(SEED);
    for (let left = KILLS; left > 0;) {
      const kills = Array.from({ length: Math.min(left, KILLS_OF_A_STORY) }, (): Kill => {
        return { share: random(), delayMs: random() * LONGEST_DELAY_MS };
      }).sort((a, b) => a.share - b.share);
      await using fleet = await openFleet();
      await fleet.start();
      try {
        const { told, killed } = await playWithKills(fleet, kills);
        await fleet.stop();
        await expectTheEnd(fleet, told);
        expect(killed).toBeGreaterThan(0);
        left -= killed;
      } catch (cause) {
        throw new Error(`ROOKERY_SEED=${SEED}, ${JSON.stringify(kills)}: ${String(cause)}`, { cause });
      }
    }
    console.log("killed after:", JSON.stringify(Object.fromEntries(after)));
  },
);

interface Kill {
  /** How much of a whole story's steps were taken, and how long after that. */
  readonly share: number;
  readonly delayMs: number;
}

/** The story may be over before the last of them. */
async function playWithKills(
  fleet: Fleet,
  kills: readonly Kill[],
): Promise<{ readonly told: Told; readonly killed: number }> {
  const left = [...kills];
  let killing: Promise<void> = Promise.resolve();
  let isKilling = false;
  let last = "";
  const steps = new Set<string>();
  const kill = async (delayMs: number): Promise<void> => {
    await sleep(delayMs);
    await fleet.kill();
    after.set(last, (after.get(last) ?? 0) + 1);
    await fleet.start();
    await expectSwept(fleet);
    isKilling = false;
  };
  const told = await fleet.play(({ event }) => {
    last = event.type;
    const step = stepOf(event);
    if (step !== undefined) steps.add(step);
    const next = left[0];
    if (isKilling || next === undefined || steps.size < next.share * whole) return;
    left.shift();
    isKilling = true;
    killing = kill(next.delayMs);
    killing.catch(() => undefined); // told below
  });
  await killing;
  return { told, killed: kills.length - left.length };
}

/** What happens to a task, however often: kills add none, so that they spread over the whole story. */
function stepOf(event: LogEvent): string | undefined {
  if (!("taskId" in event) || event.type === "task.queued" || event.type === "output.text") return undefined;
  return `${event.taskId} ${event.type} ${"name" in event ? event.name : ""}`;
}

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let count = 0;
  return () => {
    const digest = createHash("sha256")
      .update(`${seed} ${(count += 1)}`)
      .digest();
    return digest.readUInt32BE() / 2 ** 32;
  };
}
