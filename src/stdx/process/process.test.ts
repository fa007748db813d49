import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  isAlive,
  isDeadOwner,
  killMarked,
  openOwner,
  ownIdentity,
  processesMarked,
  startGroup,
  sweepDeadOwners,
} from "../index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rookery-stdx-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env["PATH"] };
/** A marker of this run alone: another run on the same machine must not find our processes. */
const marked = (name: string) => `${name}-${process.pid}`;
/** A marker of an owner that cannot be alive: its start time is of no boot. */
const deadMarker = (name: string) => `${process.pid}.never-${name}.1`;

async function startedWith(marker: string, script: string) {
  const group = await startGroup("sh", ["-c", script], { cwd: folder, env, marker });
  await once(group.child.stdout!, "data");
  return group;
}

it("distinguishes a living process from a dead one and from one that reused its pid", async () => {
  expect(isAlive(ownIdentity())).toBe(true);
  expect(isAlive({ pid: process.pid, startTime: "another" })).toBe(false);
  const child = spawn("true");
  const identity = { pid: child.pid!, startTime: "x" };
  await once(child, "exit");
  expect(isAlive(identity)).toBe(false);
});

it("stops a group whose leader and grandchild ignore SIGTERM", async () => {
  const group = await startedWith(
    marked("stop"),
    `trap '' TERM; (trap '' TERM; sleep 60) & echo up; while :; do sleep 1; done`,
  );
  await group.stop(100);
  expect((await group.exited).signal).toBe("SIGKILL");
  await vi.waitFor(() => expect(processesMarked(marked("stop"))).toEqual([])); // who is killed is gone a moment later
});

it("finds a descendant that left the group by its marker", async () => {
  await using group = await startGroup("sh", ["-c", `setsid sh -c 'echo $$; exec sleep 60' & sleep 60`], {
    cwd: folder,
    env,
    marker: marked("left"),
  });
  const stray = Number(String((await once(group.child.stdout!, "data"))[0]));
  await group.stop(100);
  expect(processesMarked(marked("left")).map(({ pid }) => pid)).toContain(stray);
  expect(await killMarked(marked("left"))).toBeGreaterThan(0);
  expect(processesMarked(marked("left"))).toEqual([]);
});

it("kills what a dead owner left and removes the owner's file", async () => {
  const marker = deadMarker("a");
  writeFileSync(join(folder, marker), "");
  await using _group = await startedWith(marker, "echo up; sleep 60");
  expect(await sweepDeadOwners(folder)).toBeGreaterThan(0);
  expect(processesMarked(marker)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

it("leaves the children of a living owner alone until that owner is disposed", async () => {
  const owner = openOwner(folder);
  const marker = owner.claim();
  await using _group = await startedWith(marker, "echo up; sleep 60");
  expect(await sweepDeadOwners(folder)).toBe(0);
  expect(processesMarked(marker).length).toBeGreaterThan(0);
  await owner[Symbol.asyncDispose]();
  expect(processesMarked(marker)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

it("adds its marker to the inherited one, so that the child ends with either owner", async () => {
  const [outer, inner] = [marked("outer"), marked("inner")];
  await using group = await startGroup("sh", ["-c", "echo $ROOKERY_OWNER; exec sleep 60"], {
    cwd: folder,
    env: { ...env, ROOKERY_OWNER: outer },
    marker: inner,
  });
  expect(String((await once(group.child.stdout!, "data"))[0])).toMatch(`${outer},${inner},group-`);
  expect(processesMarked(outer)).toEqual([group.identity]);
  expect(processesMarked(inner)).toEqual([group.identity]);
  expect(processesMarked(outer.slice(0, -1))).toEqual([]); // a part of a marker is another marker
  expect(await killMarked(outer)).toBe(1);
});

it("gives each owner a unique marker, even across copies of this module in one process", async () => {
  vi.resetModules();
  const copy = await import("./owner.ts");
  const markers = [openOwner, copy.openOwner, openOwner, copy.openOwner].map((open) => open(folder).claim());
  expect(new Set(markers).size).toBe(4);
  expect(markers.filter((marker) => isDeadOwner(marker))).toEqual([]);
  expect(isDeadOwner(markers[0]!.replace(ownIdentity().startTime, "never"))).toBe(true);
});
