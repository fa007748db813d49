import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAlive, killMarked, startGroup, startTimeOf } from "../index.ts";

let folder: string;
let marker: string;
let count = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rookery-ending-"));
  marker = `ending-${process.pid}-${(count += 1)}`;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await killMarked(marker);
  rmSync(folder, { recursive: true, force: true });
});

const env = { PATH: process.env["PATH"] };
const start = (script: string) => startGroup("sh", ["-c", script], { cwd: folder, env, marker });

describe("a group whose leader has been waited for", () => {
  it("is never signalled by its number, and what is left of it is ended one by one", async () => {
    await using group = await start("sleep 300 & echo $!");
    const pid = Number(String((await once(group.child.stdout!, "data"))[0]));
    await group.ended;
    const left = { pid, startTime: startTimeOf(pid)! };
    const kill = vi.spyOn(process, "kill");
    await group.stop();
    expect(isAlive(left)).toBe(false);
    const signalled = kill.mock.calls.filter(([, signal]) => signal !== 0);
    expect(signalled).toEqual([[pid, "SIGKILL"]]);
  });

  it("is not signalled again when it ends within its grace", async () => {
    await using group = await start("trap 'exit 0' TERM; echo up; sleep 300 & wait");
    await once(group.child.stdout!, "data");
    const kill = vi.spyOn(process, "kill");
    await group.stop(10_000);
    const groups = kill.mock.calls.filter(([target, signal]) => target < 0 && signal !== 0);
    expect(groups).toEqual([[-group.identity.pid, "SIGTERM"]]);
  });

  it("leaves alone a stranger that has the number of the group by now", async () => {
    const group = await start("true");
    await group.ended;
    const kill = vi.spyOn(process, "kill").mockReturnValue(true); // as if a group of that number existed again
    await group.stop();
    expect(kill.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([]);
  });
});
