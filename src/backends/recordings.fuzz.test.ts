import { expect, it } from "vitest";
import { openFuzzedProgram } from "./test-recordings.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 2_000 : process.env["ROOKERY_SLOW"] === "1" ? 20 : 3;
const AT_ONCE = Math.min(24, CASES); // a case mostly waits
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

it.each(["claude", "codex", "codex-exec", "gemini", "gemini-headless", "opencode"])(
  "keeps a session of %s usable after one to three changed lines",
  async (program) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const fuzzed = await openFuzzedProgram(program);
      const problems: string[] = [];
      let next = FIRST_SEED;
      const work = async () => {
        while (next < FIRST_SEED + CASES) {
          const problem = await fuzzed.play(next++);
          if (problem !== undefined) problems.push(problem);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      expect(await fuzzed.close()).toBe(0);
      expect(problems).toEqual([]);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  },
  isWhole ? 3_600_000 : 120_000,
);
