import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { LogEvent } from "../../src/domain/index.ts";
import { expectSwept, expectFinalState } from "./checks.ts";
import { openFleet, type Fleet, type StoryOutcome } from "./scene.ts";

/** `npm run soak` sets 50. */
const KILLS = Number(process.env["ROOKERY_KILLS"] ?? (process.env["ROOKERY_SLOW"] === "1" ? 10 : 2));
/** Kills per story. With more, the server would spend most of its time starting. */
const KILLS_OF_A_STORY = 6;
const SEED = Number(process.env["ROOKERY_SEED"] ?? Date.now() % 1_000_000);
const LONGEST_DELAY_MS = 250;

/** The approximate number of steps of a story. The first test counts them. */
let whole = 90;
/** How many kills followed each type of event. */
const after = new Map<string, number>();

/** `npm test` skips this: the next test runs the same tasks with a few kills. */
it.runIf(KILLS > 2)(
  "runs ten tasks that a client follows, answers, stops, resumes and merges over HTTP",
  { timeout: 120_000 },
  async () => {
    await using fleet = await openFleet();
    await fleet.start();
    const told = await fleet.play();
    await fleet.stop();
    await expectFinalState(fleet, told);
    whole = new Set(told.events.flatMap(({ event }) => toStepName(event) ?? [])).size;
  },
);

it(
  `reaches the same result if the server is killed ${KILLS} times`,
  { timeout: 200_000 + KILLS * 10_000 },
  async () => {
    const random = createRandom(SEED);
    for (let left = KILLS; left > 0;) {
      const kills = Array.from({ length: Math.min(left, KILLS_OF_A_STORY) }, (): Kill => {
        return { share: random(), delayMs: random() * LONGEST_DELAY_MS };
      }).sort((a, b) => a.share - b.share);
      await using fleet = await openFleet();
      await fleet.start();
      try {
        const { told, killed } = await playWithKills(fleet, kills);
        await fleet.stop();
        await expectFinalState(fleet, told);
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
  /** The share of the story's steps after which to wait `delayMs` and kill the server. */
  readonly share: number;
  readonly delayMs: number;
}

/** Kills the server during the story. The story may end before the last kill. */
async function playWithKills(
  fleet: Fleet,
  kills: readonly Kill[],
): Promise<{ readonly told: StoryOutcome; readonly killed: number }> {
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
    const step = toStepName(event);
    if (step !== undefined) steps.add(step);
    const next = left[0];
    if (isKilling || next === undefined || steps.size < next.share * whole) return;
    left.shift();
    isKilling = true;
    killing = kill(next.delayMs);
    killing.catch(() => undefined); // awaited below
  });
  await killing;
  return { told, killed: kills.length - left.length };
}

/** Names a step of a task. Kills add no steps, so they spread over the whole story. */
function toStepName(event: LogEvent): string | undefined {
  if (!("taskId" in event) || event.type === "task.queued" || event.type === "output.text") return undefined;
  return `${event.taskId} ${event.type} ${"name" in event ? event.name : ""}`;
}

/** Returns the same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let count = 0;
  return () => {
    const digest = createHash("sha256")
      .update(`${seed} ${(count += 1)}`)
      .digest();
    return digest.readUInt32BE() / 2 ** 32;
  };
}
