import { describe, expect, it } from "vitest";
import { AGENT_CASES } from "./agent-cases.ts";
import { superlinearGrowth } from "./growth.ts";

const KB = 1024;
/** `npm run test:slow` adds 1, 2 and 4 MB. Quadratic code fails at the small sizes before it can hang. */
const SIZES = process.env["ROOKERY_LINEAR"] === "full" ? [32 * KB, KB * KB] : [32 * KB];

describe("takes linear time for untrusted input:", () => {
  it.each([...AGENT_CASES])(
    "$name",
    async (growth) => {
      for (const size of SIZES) expect(await superlinearGrowth(growth, size)).toBeUndefined();
    },
    300_000,
  );
});
