import { beforeEach, describe, expect, it, vi } from "vitest";
import { DEFECTS } from "./test-defects.ts";
import { sdkSubject } from "./test-sdk-subject.ts";

describe("the official SDK does not yet see to it that", () => {
  // It reports what it drops on the console.
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));

  it.each(DEFECTS.map((defect) => [defect.name, defect] as const))("%s", async (_name, { run, sdk }) => {
    expect(await run(sdkSubject)).toBe(sdk);
  });
});
