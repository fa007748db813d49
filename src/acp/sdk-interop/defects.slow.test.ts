import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFECTS } from "./test-defects.ts";
import { ownSubject } from "./test-own-subject.ts";
import { sdkSubject } from "./test-sdk-subject.ts";

/** The flood takes several seconds, and longer on a busy machine. */
const TIMEOUT_MS = 120_000;
const rows = DEFECTS.map((defect) => [`${defect.id}: ${defect.name}`, defect] as const);

describe("this library keeps the promise:", () => {
  it.each(rows)("%s", async (_name, { run }) => expect(await run(ownSubject)).toBe("right"), TIMEOUT_MS);
});

/** A failure here is good news: the SDK has fixed a defect, and the recorded text is out of date. */
describe("the official SDK 2.4.0 breaks the promise:", () => {
  // The SDK reports dropped messages on the console.
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));

  it.each(rows)(
    "%s",
    async (_name, { run, sdk }) => {
      expect(await run(sdkSubject)).toBe(sdk);
    },
    TIMEOUT_MS,
  );
});
