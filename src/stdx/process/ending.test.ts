import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAlive, killMarked, processesMarked, startGroup, startTimeOf, sweepDeadOwners } from "../index.ts";

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
const start = (script: string, more: Readonly<Record<string, string>> = {}) =>
  startGroup("sh", ["-c", script], { cwd: folder, env: { ...env, ...more }, marker });

/** Runs the script to its end; a daemon that it starts writes its process id to the file `daemon`. */
async function startDaemon(script: string, more?: Readonly<Record<string, string>>) {
  await using group = await start(script, more);
  await group.exited;
  const file = join(folder, "daemon");
  await vi.waitFor(() => expect(existsSync(file) && readFileSync(file, "utf8")).toMatch(/^\d+\n$/));
  const pid = Number(readFileSync(file, "utf8"));
  return { pid, startTime: startTimeOf(pid)! };
}

const REPORT = `open my $f, ">", "daemon.tmp"; print $f "$$\\n"; close $f; rename "daemon.tmp", "daemon"`;
/** A daemon like PostgreSQL, nginx or sshd: it forks twice, starts a new session, and overwrites its environment with a title. */
const RENAMED = `perl -e 'use POSIX "setsid"; $0 = "daemon: " x 4000; fork and exit; setsid; fork and exit;
  open STDIN, "</dev/null"; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null"; ${REPORT}; sleep 300'`;
const hasPerl = spawnSync("perl", ["-MPOSIX", "-e", "setsid"]).status === 0;
/** Variable names that a shell drops, and names whose values it replaces. */
const ODD_VARIABLES = {
  "BASH_FUNC_greet%%": "() {  echo hello\n}",
  "a.b": "kept",
  "with-dash": "1",
  "with space": "2",
  "1st": "3",
  é: "4",
  IFS: ":",
  OPTIND: "7",
  PPID: "8",
};
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
const [isLinux, withPerl] = [process.platform === "linux", hasPerl ? "" : " (skipped: perl is not installed)"];

describe.runIf(isLinux)("a daemon that lost its marker", () => {
  it.runIf(hasPerl)(`is found although it overwrote its environment${withPerl}`, async () => {
    const daemon = await startDaemon(RENAMED);
    expect(readFileSync(`/proc/${daemon.pid}/environ`, "latin1")).not.toContain(marker);
    await vi.waitFor(() => expect(processesMarked(marker)).toEqual([daemon])); // its parents take a moment to end
    expect(await killMarked(marker)).toBe(1);
    expect(isAlive(daemon)).toBe(false);
  });

  it("is found even if it was started with an empty environment", async () => {
    const daemon = await startDaemon(`env -i setsid sh -c 'echo $$ > daemon; exec sleep 300' >/dev/null 2>&1 &`);
    await vi.waitFor(() => expect(processesMarked(marker)).toEqual([daemon]));
    expect(processesMarked(`${marker}-other`)).toEqual([]);
  });

  it.runIf(hasPrlimit)("is found even if it was started with variables that a shell would drop", async () => {
    const script = `env -i setsid sh -c 'echo $$ > daemon; exec sleep 300' >/dev/null 2>&1 &`;
    const daemon = await startDaemon(script, ODD_VARIABLES);
    await vi.waitFor(() => expect(processesMarked(marker)).toEqual([daemon]));
  });

  it("is killed at the next start if its owner was killed", async () => {
    marker = `${process.pid}.never-${count}.1`; // of no boot
    writeFileSync(join(folder, marker), "");
    const daemon = await startDaemon(`env -i setsid sh -c 'echo $$ > daemon; exec sleep 300' >/dev/null 2>&1 &`);
    expect(await sweepDeadOwners(folder)).toBe(1);
    expect(isAlive(daemon)).toBe(false);
    expect(readdirSync(folder)).not.toContain(marker);
  });

  it("is found by the outer of two owners even if the inner one tagged it too", async () => {
    const lower = `ulimit -S -w 4611686018427387000 2>/dev/null || ulimit -S -x 4611686018427387000`;
    const daemon = await startDaemon(
      `${lower}; env -i setsid sh -c 'echo $$ > daemon; exec sleep 300' >/dev/null 2>&1 &`,
    );
    await vi.waitFor(() => expect(processesMarked(marker)).toEqual([daemon]));
  });

  it("is found only by the group that started it", async () => {
    await using other = await start("echo up; exec sleep 300");
    await once(other.child.stdout!, "data");
    await using group = await start(`env -i setsid sh -c 'echo $$; exec sleep 300' & wait`);
    const pid = Number(String((await once(group.child.stdout!, "data"))[0]));
    await group.stop(0);
    expect(processesMarked(group.marker).map((found) => found.pid)).toEqual([pid]);
    expect(processesMarked(other.marker)).toEqual([other.identity]);
    expect(await killMarked(group.marker)).toBe(1);
    expect(isAlive(other.identity)).toBe(true);
  });
});

describe("a child", () => {
  it("has the given environment and its marker, and nothing else", async () => {
    await using group = await startGroup("env", [], { cwd: folder, env: { ...env, HOME: "/none" }, marker });
    const lines: string[] = [];
    group.child.stdout!.setEncoding("utf8").on("data", (text: string) => lines.push(...text.trimEnd().split("\n")));
    await group.exited;
    const names = lines.map((line) => line.split("=")[0]).filter((name) => name !== "_"); // bash always sets `_`
    expect(names.sort()).toEqual(["HOME", "PATH", "ROOKERY_OWNER"]);
  });

  it("keeps variables that a shell would drop", async () => {
    const options = { cwd: folder, env: { ...env, "a.b": "kept" }, marker };
    await using group = await startGroup("printenv", ["a.b"], options);
    expect(String((await once(group.child.stdout!, "data"))[0])).toBe("kept\n");
  });

  it.runIf(hasPrlimit)("keeps variables that a shell would change", async () => {
    const options = { cwd: folder, env: { ...env, ...ODD_VARIABLES }, marker };
    await using group = await startGroup(process.execPath, ["-p", "JSON.stringify(process.env)"], options);
    const printed = JSON.parse(String((await once(group.child.stdout!, "data"))[0])) as Record<string, string>;
    expect(printed).toMatchObject(ODD_VARIABLES);
  });

  it.each([
    ["a missing program", "no-such-program"],
    ["a missing path", "./no-such-program"],
    ["a script with a missing interpreter", "./script"],
  ])("fails to start with ENOENT for %s", async (_, program) => {
    writeFileSync(join(folder, "script"), "#!/no/such/interpreter\n", { mode: 0o755 });
    const started = startGroup(program, [], { cwd: folder, env, marker });
    await expect(started).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a process group whose leader has been reaped", () => {
  it("is never signaled by its id; its remaining processes are killed one by one", async () => {
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

  it("is not signaled again if it ends within the grace period", async () => {
    await using group = await start("trap 'exit 0' TERM; echo up; sleep 300 & wait");
    await once(group.child.stdout!, "data");
    const kill = vi.spyOn(process, "kill");
    await group.stop(10_000);
    const groups = kill.mock.calls.filter(([target, signal]) => target < 0 && signal !== 0);
    expect(groups).toEqual([[-group.identity.pid, "SIGTERM"]]);
  });

  it("does not signal another group that reused its id", async () => {
    const group = await start("true");
    await group.ended;
    const kill = vi.spyOn(process, "kill").mockReturnValue(true); // as if a group of that number existed again
    await group.stop();
    expect(kill.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([]);
  });
});
