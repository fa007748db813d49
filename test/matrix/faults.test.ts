import { beforeAll, describe, expect, it } from "vitest";
import { playSession, playTask, playWorker, type Story } from "./fault-stories.ts";
import { toFaultPoints, type FaultKind, type FaultPoint } from "./faults.ts";

/** `npm run matrix` runs all of them. */
const IS_WHOLE = process.env["ROOKERY_MATRIX"] === "all";
/** How many faults of each story and kind `npm test` runs. */
const SAMPLE = 1;

/** The calls that only a worker makes. The story of a task has the others. */
const WORKER_CALLS = /worker/i;

type StoryRow = [string, (point?: FaultPoint) => Promise<Story>, readonly FaultKind[], calls: RegExp];
const STORIES: readonly StoryRow[] = [
  ["a session", playSession, ["store", "spawn"], /^/],
  ["a task", playTask, ["store", "git", "spawn"], /^/],
  ["a worker", playWorker, ["store"], WORKER_CALLS],
];

describe.runIf(process.platform === "linux").each(STORIES)("%s with one injected failure", (_, play, kinds, names) => {
  let whole: Story;
  beforeAll(async () => {
    whole = await play();
  });

  it("succeeds without a failure", () => {
    const { problems, faults } = whole;
    expect(problems).toEqual([]);
    for (const kind of kinds) expect(faults.calls[kind].some(({ name }) => names.test(name))).toBe(true);
  });

  it.each(kinds)(
    `recovers from a %s failure at ${IS_WHOLE ? "each call" : "some calls"}, and every turn ends once`,
    { timeout: 3_600_000 },
    async (kind) => {
      const calls = whole.faults.calls[kind].filter(({ name }) => names.test(name));
      const points = calls.flatMap(toFaultPoints);
      const rows: Row[] = [];
      for (const at of chosen(points.length)) rows.push(await rowAt(points[at - 1] as FaultPoint, play));
      if (IS_WHOLE) console.log(rows.map(({ at, result }) => `${at}: ${result.join("; ")}`).join("\n"));
      const isGood = ({ result }: Row) => result[0] === OK || result[0] === UNREACHED_REPEAT;
      expect(rows.filter((row) => !isGood(row))).toEqual([]);
    },
  );
});

const OK = "ok";
const UNREACHED_REPEAT = "not reached: this run made fewer calls";

interface Row {
  readonly at: string;
  readonly result: readonly string[];
}

/**
 * Calls that timers make (recovery reads `heldTasks`), and reads that catch up with the log: one read returns everything
 * that was appended since the one before. How often they are made depends on how fast a run is.
 */
const SPEED_DEPENDENT_CALLS = [
  "summary",
  "watchHead",
  "watchTaskHead",
  "watchTasks",
  "task",
  "heldTasks",
  "claimTask",
  "renewLeases",
  "read",
  "saveWorker",
  "workers",
];
const MAX_PLAYS = 3;

async function rowAt(point: FaultPoint, play: (point?: FaultPoint) => Promise<Story>): Promise<Row> {
  const { kind, name, nth, when, code } = point;
  const at = `${kind}: ${name}, number ${nth}${kind === "store" ? `, ${code} ${when} its work` : ""}`;
  for (let plays = 0; plays < MAX_PLAYS; plays += 1) {
    const { faults, problems } = await play(point);
    if (problems.length > 0) return { at, result: problems };
    if (faults.isInjected) return { at, result: [OK] };
  }
  const isRepeat = nth > 1 && kind === "store" && SPEED_DEPENDENT_CALLS.includes(name);
  return { at, result: [isRepeat ? UNREACHED_REPEAT : "not reached"] };
}

function chosen(count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  const every = Math.max(1, Math.floor(count / SAMPLE));
  return IS_WHOLE ? all : all.filter((at) => at % every === Math.ceil(every / 2)).slice(0, SAMPLE);
}
