import { beforeAll, describe, expect, it } from "vitest";
import { playSession, playTask, type Story } from "./test-fault-stories.ts";
import type { FaultKind, FaultPoint } from "./test-faults.ts";

/** `npm run matrix` asks for all of them. */
const IS_WHOLE = process.env["ROOKERY_MATRIX"] === "all";
/** Of each story and kind, in `npm test`. */
const SAMPLE = 2;

const STORIES: readonly [string, (point?: FaultPoint) => Promise<Story>, readonly FaultKind[]][] = [
  ["a session", playSession, ["store", "spawn"]],
  ["a task", playTask, ["store", "git", "spawn"]],
];

describe.runIf(process.platform === "linux").each(STORIES)("%s, with one failure", (_, play, kinds) => {
  let whole: Story;
  beforeAll(async () => {
    whole = await play();
  });

  it("works without a failure", () => {
    const { problems, faults } = whole;
    expect(problems).toEqual([]);
    for (const kind of kinds) expect(faults.calls[kind].length, kind).toBeGreaterThan(0);
  });

  it.each(kinds)(
    `at ${IS_WHOLE ? "each call" : "some calls"}: %s; it works afterwards, and every turn has ended once`,
    { timeout: 3_600_000 },
    async (kind) => {
      const { faults } = whole;
      const rows: { at: string; problems: readonly string[] }[] = [];
      for (const at of chosen(faults.calls[kind].length)) {
        const story = await play({ kind, at });
        rows.push({ at: story.faults.injected ?? `${kind} ${at}: not reached`, problems: story.problems });
      }
      if (IS_WHOLE) console.log(rows.map(({ at, problems }) => `${at}: ${problems.join("; ") || "ok"}`).join("\n"));
      expect(rows.filter(({ problems }) => problems.length > 0)).toEqual([]);
    },
  );
});

function chosen(count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  const every = Math.max(1, Math.floor(count / SAMPLE));
  return IS_WHOLE ? all : all.filter((at) => at % every === Math.ceil(every / 2)).slice(0, SAMPLE);
}
