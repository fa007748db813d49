import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleChild, type Bundle } from "./bundle.ts";
import { play, type StoryResult } from "./cell.ts";
import { findViolations } from "./checks.ts";
import { formatTable, type Row } from "./table.ts";

/** `npm run matrix` runs all of them. */
const IS_WHOLE = process.env["ROOKERY_MATRIX"] === "all";
/** Runs only the boundaries whose names contain this text. */
const ONLY = process.env["ROOKERY_MATRIX_ONLY"];
const SAMPLE = 4;
const AT_ONCE = 2;
/** How often to retry a boundary that was not reached, since the number of commits depends on the speed of the machine. */
const TRIES = 3;

/** Always part of the sample: an effect that is done but not recorded, and one that is recorded but not reported. */
const DELICATE = [
  "tool mark d ran",
  "effect 1.1 tool e after",
  "effect 1.1 sleep try.1 before",
  "effect 1.2 model summary settled",
  "tool mark n1 ran",
];

let bundle: Bundle;
let whole: StoryResult;

beforeAll(async () => {
  bundle = await bundleChild();
  whole = await play(bundle.file, [], true);
});
afterAll(() => bundle[Symbol.dispose]());

describe.runIf(process.platform === "linux")("a story of two turns", () => {
  it("succeeds without a kill and crosses the expected boundaries", () => {
    expect(findViolations(whole, whole)).toEqual([]);
    const names = whole.lives[0]?.reached ?? [];
    expect(names).toEqual(expect.arrayContaining(DELICATE));
    expect(new Set(names.map((name) => name.split(" ")[0]))).toEqual(new Set(["store", "provider", "effect", "tool"]));
  });

  it(
    `reaches the same end if its process is killed at ${IS_WHOLE ? "every boundary" : "some boundaries"}, and sometimes its successor too`,
    { timeout: 3_600_000 },
    async () => {
      const rows = await playAll(chosen(boundariesOf(whole)));
      console.log(formatTable(rows));
      expect(rows.filter(({ faults }) => faults.length > 0).map(({ at, faults }) => ({ at, faults }))).toEqual([]);
      const missed = rows.filter(({ played }) => played.lives[0]?.killedAt === undefined);
      expect(missed.length, "boundaries that were not reached").toBeLessThanOrEqual(rows.length / 10);
    },
  );
});

/**
 * Leaves out boundaries that differ from run to run: some depend on the clock, and whether a follower that waits for an
 * answer sees the end of another tool depends on which is faster.
 */
function boundariesOf({ lives }: StoryResult): string[] {
  return (lives[0]?.reached ?? []).filter(
    (name) => !/^store (?:summary#(?!1 )|watchHead#|follow#\d+ tool\.)/.test(name),
  );
}

type Kills = readonly (string | number)[];

/** Where to kill. A second entry is the number of the boundary at which to kill the process that continues. */
function chosen(names: readonly string[]): Kills[] {
  if (ONLY !== undefined) return names.filter((name) => name.includes(ONLY)).map((name) => [name]);
  const every = Math.ceil(names.length / SAMPLE);
  const once = IS_WHOLE ? names : names.filter((name, index) => index % every === every - 1 || DELICATE.includes(name));
  const twice = DELICATE.flatMap((name, index) =>
    (IS_WHOLE ? [5, 12, 25, 40] : index === 0 ? [12] : []).map((second) => [name, second]),
  );
  return [...once.map((name) => [name]), ...twice];
}

async function playAll(all: readonly Kills[]): Promise<Row[]> {
  const rows: Row[] = [];
  const waiting = all.map((at, index) => ({ at, index }));
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      rows[next.index] = await rowOf(next.at);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return rows;
}

async function rowOf(at: Kills): Promise<Row> {
  for (let tries = 1; ; tries += 1) {
    const played = await play(bundle.file, at);
    const faults = findViolations(played, whole);
    if (played.lives[0]?.killedAt !== undefined || tries === TRIES || faults.length > 0) return { at, played, faults };
  }
}
