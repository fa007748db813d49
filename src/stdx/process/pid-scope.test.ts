import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  bootId,
  declareHost,
  hostOfScope,
  isAlive,
  judgeOwner,
  machinePidScope,
  newOwnerText,
  openOwner,
  ownIdentity,
  ownPidScope,
  parseOwnerText,
  processesMarked,
  startGroup,
  startTimeOf,
  sweepDeadOwners,
} from "../index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rookery-scope-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"] };
const gone = () => ({ pid: spawnSync("true").pid, startTime: ownIdentity().startTime });
const elsewhere = (changed: "boot" | "namespace") => {
  const [host = "", boot = "", namespace = ""] = ownPidScope().split("-");
  return changed === "boot" ? `${host}-00000000-${namespace}` : `${host}-${boot}-1`;
};

describe("an owner", () => {
  it("of this pid scope is judged by its pid and start time", () => {
    const own = newOwnerText();
    expect(parseOwnerText(own)).toEqual({ ...ownIdentity(), scope: ownPidScope() });
    expect(judgeOwner(own)).toBe("alive");
    const { pid, startTime } = gone();
    expect(judgeOwner(`${ownPidScope()}.${pid}.${startTime}.0a1b`)).toBe("dead");
  });

  it.each(["boot", "namespace"] as const)(
    "of another %s cannot be judged, even if its pid is in use here",
    (changed) => {
      const { pid, startTime } = gone();
      expect(judgeOwner(`${elsewhere(changed)}.${pid}.${startTime}.0a1b`)).toBe("unknown");
      expect(judgeOwner(`${elsewhere(changed)}.${process.pid}.${ownIdentity().startTime}.0a1b`)).toBe("unknown");
    },
  );

  it("without a scope is judged by pid and start time, and an invalid text is unknown", () => {
    const { pid, startTime } = ownIdentity();
    expect(judgeOwner(`${pid}.${startTime}.0a1b`)).toBe("alive");
    expect(judgeOwner(`${gone().pid}.${startTime}.0a1b`)).toBe("dead");
    expect(["", "x", "h.1", "hello.world"].map(judgeOwner)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
  });

  it("of another host cannot be checked, even if machine, boot, namespace, pid and start time are the same", () => {
    const { pid, startTime } = ownIdentity();
    const owners = [machinePidScope(), ownPidScope("alpha"), ownPidScope("beta.example")].map(
      (scope) => `${scope}.${pid}.${startTime}.0a1b`,
    );
    declareHost("alpha");
    declareHost(undefined);
    expect(owners.map(judgeOwner)).toEqual(["alive", "alive", "unknown"]);
    expect(owners.map((text) => hostOfScope(parseOwnerText(text)?.scope ?? ""))).toEqual([
      undefined,
      "alpha",
      "beta.example",
    ]);
  });

  it("is safe as a file name and in a list with commas", () => {
    expect(newOwnerText()).not.toMatch(/[,/\s]/);
    expect(newOwnerText().length).toBeLessThan(120);
  });
});

it("keeps the file of an owner that it cannot judge until it is 30 days old", async () => {
  const { pid, startTime } = gone();
  const names = (["boot", "namespace"] as const).map((changed) => `${elsewhere(changed)}.${pid}.${startTime}.0a1b`);
  for (const name of names) writeFileSync(join(folder, name), "");
  await using _group = await startGroup("sleep", ["300"], { cwd: folder, env, marker: names[1]! });
  expect(await sweepDeadOwners(folder)).toBe(0);
  expect(readdirSync(folder).sort()).toEqual([...names].sort());
  const longAgo = new Date(Date.now() - 40 * 24 * 60 * 60 * 1_000);
  for (const name of names) utimesSync(join(folder, name), longAgo, longAgo);
  expect(await sweepDeadOwners(folder)).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
  expect(processesMarked(names[1]!)).toHaveLength(1);
});

it("updates the time of an owner's file once a day", () => {
  const owner = openOwner(folder);
  const file = join(folder, owner.claim());
  const longAgo = new Date(Date.now() - 40 * 24 * 60 * 60 * 1_000);
  utimesSync(file, longAgo, longAgo);
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 25 * 60 * 60 * 1_000);
  owner.claim();
  vi.restoreAllMocks();
  expect(Date.now() - statSync(file).mtimeMs).toBeLessThan(60_000);
});

const mayUnshare =
  process.platform === "linux" && spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "true"]).status === 0;
const reason = mayUnshare ? "" : " (skipped: this user may not make a PID namespace)";

it.runIf(mayUnshare)(`does not treat a living owner in another PID namespace as dead${reason}`, async () => {
  const script = `readlink /proc/self/ns/pid; echo $$; cut -d' ' -f22 /proc/$$/stat; exec sleep 300`;
  const marker = `scope-${process.pid}`;
  const child = spawn("unshare", ["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script], {
    env: { ...env, ROOKERY_OWNER: marker },
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await vi.waitFor(() => expect(said.split("\n")).toHaveLength(4));
  try {
    const [namespace = "", pid = "", ticks = ""] = said.split("\n");
    const [host = "", boot = ""] = ownPidScope().split("-");
    const text = `${host}-${boot}-${/\d+/.exec(namespace)![0]}.${pid}.${bootId()}-${ticks}.0a1b`;
    expect(isAlive({ pid: Number(pid), startTime: `${bootId()}-${ticks}` })).toBe(false); // in this namespace the pid belongs to another process
    expect(judgeOwner(text)).toBe("unknown");
    writeFileSync(join(folder, text), "");
    expect(await sweepDeadOwners(folder)).toBe(0);
    expect(readdirSync(folder)).toEqual([text]);
    expect(processesMarked(marker).length).toBeGreaterThan(0); // visible from this namespace, and still alive
    expect(startTimeOf(child.pid!)).toBeDefined();
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
