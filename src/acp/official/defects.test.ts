import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFECTS } from "./test-defects.ts";
import { ownSubject } from "./test-own-subject.ts";
import { sdkSubject } from "./test-sdk-subject.ts";
import { relativeFolderIsRefused } from "./test-values.ts";

/** The flood takes seconds, and many of them where the machine has other work. */
const TIMEOUT_MS = 120_000;
const rows = DEFECTS.map((defect) => [`${defect.id}: ${defect.name}`, defect] as const);
/** Needs an agent's side that knows the protocol's methods; the connection alone passes on what it gets. */
const waiting = [relativeFolderIsRefused];

describe("this library sees to it that", () => {
  for (const [name, defect] of rows) {
    if (waiting.includes(defect)) it.todo(name);
    else it(name, async () => expect(await defect.run(ownSubject)).toBe("right"), TIMEOUT_MS);
  }
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
