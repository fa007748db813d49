import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFECTS } from "./test-defects.ts";
import { ownSubject } from "./test-own-subject.ts";
import { sdkSubject } from "./test-sdk-subject.ts";

/** The flood takes seconds, and many of them where the machine has other work. */
const TIMEOUT_MS = 120_000;
const rows = DEFECTS.map((defect) => [`${defect.id}: ${defect.name}`, defect] as const);

describe("this library sees to it that", () => {
  it.each(rows)("%s", async (_name, { run }) => expect(await run(ownSubject)).toBe("right"), TIMEOUT_MS);
});

/** A failure here is good news: the SDK has mended something, and the text that the list has for it is out of date. */
describe("the official SDK does not yet see to it that", () => {
  // It reports what it drops on the console.
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));

  it.each(rows)(
    "%s",
    async (_name, { run, sdk }) => {
      expect(await run(sdkSubject)).toBe(sdk);
    },
    TIMEOUT_MS,
  );
});
