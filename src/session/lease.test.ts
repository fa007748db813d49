import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Lease, Store } from "../domain/index.ts";
import {
  DisposeStack,
  isAlive,
  ownPidScope,
  processesMarked,
  startGroup,
  startTimeOf,
  type Clock,
} from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { isDriven, keepLeaseRenewed, takeLease } from "./index.ts";

const ID = "ses_leased";
const HOUR = 3_600_000;
const env = { PATH: process.env["PATH"] };
let store: Store;
let now: number;
let awake: number;
const clock: Clock = { now: () => now, awake: () => awake };
const running: ChildProcess[] = [];

beforeEach(() => {
  store = openMemoryStore();
  [now, awake] = [1_000_000_000_000, 5_000];
});
afterEach(async () => {
  vi.useRealTimers();
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await store[Symbol.asyncDispose]();
});

/** A real process with a lease of 30 s. */
async function holder() {
  const child = spawn("sleep", ["300"], { env });
  running.push(child);
  await once(child, "spawn");
  const text = `${ownPidScope()}.${child.pid!}.${startTimeOf(child.pid!)!}.0a1b2c`;
  const lease = await store.acquireLease({ sessionId: ID, owner: `${text}/1`, now, until: now + 30_000 });
  return { child, text, lease };
}

const take = () => takeLease({ store, sessionId: ID, owner: "successor", clock });
const driven = () => isDriven(store, ID, clock);
const passes = (ms: number): void => {
  now += ms;
  awake += ms;
};
const stop = async (child: ChildProcess): Promise<void> => {
  child.kill("SIGSTOP");
  await vi.waitFor(() => expect(stateOf(child.pid!)).toBe("T"));
};

describe("a live process on this machine", () => {
  it.each([
    ["the clock jumps forward by a minute", 60_000],
    ["the machine sleeps for an hour", HOUR],
  ])("keeps its lease although %s", async (_, jump) => {
    const { lease } = await holder();
    now += jump; // the monotonic clock does not advance
    expect(await driven()).toBe(true);
    await expect(take()).rejects.toMatchObject({ code: "session_in_use" });
    expect(await store.currentLease(ID)).toEqual(lease);
  });

  it("keeps its lease while it renews it, regardless of observers", async () => {
    let { lease } = await holder();
    for (let look = 0; look < 12; look += 1) {
      passes(9_999);
      now += HOUR; // the wall clock jumps each time
      expect(await driven()).toBe(true);
      lease = (await store.renewLeases([lease], now + 30_000))[0]!;
    }
  });

  it("keeps its lease if it is this process, although it was too busy to renew it", async () => {
    const { pid } = process;
    const own = `${ownPidScope()}.${pid}.${startTimeOf(pid)!}.0a1b2c`;
    await store.acquireLease({ sessionId: ID, owner: `${own}/1`, now, until: now + 30_000 });
    await driven();
    passes(HOUR);
    await expect(take()).rejects.toMatchObject({ code: "session_in_use" });
  });
});

describe("the lease of a dead process", () => {
  it.each([
    ["a process with a correct clock", 0],
    ["a process whose clock was set back by an hour", -HOUR],
  ])("is taken at once from %s, after its child processes are killed", async (_, jump) => {
    const { child, text } = await holder();
    await using left = await startGroup("sleep", ["300"], { cwd: "/", env, marker: text });
    child.kill("SIGKILL");
    await once(child, "exit");
    now += jump;
    expect(await driven()).toBe(false);
    await take();
    expect(isAlive(left.identity)).toBe(false);
  });
});

describe.runIf(process.platform === "linux")("the lease of a frozen process", () => {
  it("is taken when it has expired, after the child processes are killed", async () => {
    const { child, text } = await holder();
    await using left = await startGroup("sleep", ["300"], { cwd: "/", env, marker: text });
    await stop(child);
    passes(29_999);
    await expect(take()).rejects.toMatchObject({ code: "session_in_use" });
    expect(isAlive(left.identity)).toBe(true);
    passes(1);
    const grants: unknown[] = [];
    const acquire = store.acquireLease.bind(store);
    vi.spyOn(store, "acquireLease").mockImplementation((request) => {
      grants.push(processesMarked(text));
      return acquire(request);
    });
    expect((await take()).generation).toBe(2);
    expect(grants).toEqual([[]]); // its child processes were dead when the lease was acquired
    expect(isAlive({ pid: child.pid!, startTime: startTimeOf(child.pid!)! })).toBe(true); // a process of another owner is not killed
  });

  it("is taken after 30 seconds although the clock was set back by an hour", async () => {
    const { child } = await holder();
    await stop(child);
    now -= HOUR;
    expect(await driven()).toBe(true);
    passes(29_999);
    expect(await driven()).toBe(true);
    passes(1);
    expect(await driven()).toBe(false);
    await take();
  });

  it("is taken together with its other leases", async () => {
    const { child, text } = await holder();
    const other = "ses_other";
    await store.acquireLease({ sessionId: other, owner: `${text}/2`, now: now + 5_000, until: now + 35_000 });
    await stop(child);
    now -= HOUR;
    await driven();
    passes(30_000);
    await take();
    await takeLease({ store, sessionId: other, owner: "successor", clock }); // first observation
  });
});

describe("a holder that cannot be checked from here", () => {
  const elsewhere = (until: number) =>
    store.acquireLease({ sessionId: ID, owner: "h0-0-0.1.0-1.0a/1", now, until: now + until });

  it("keeps its lease until it expires", async () => {
    await elsewhere(30_000);
    passes(29_999);
    await expect(take()).rejects.toThrow("on another machine or in another container");
    passes(1);
    await take();
  });

  it("does not keep its lease longer because the clock was set back", async () => {
    await elsewhere(30_000);
    now -= HOUR;
    expect(await driven()).toBe(true);
    passes(30_000);
    await take();
  });
});

describe("a lease holder", () => {
  let lost: unknown[];
  const keep = (lease: Lease, through: Store = store) =>
    keepLeaseRenewed({ store: through, sessionId: ID, owner: "holder/1", clock }, lease, (error) => lost.push(error));
  const granted = () => store.acquireLease({ sessionId: ID, owner: "holder/1", now, until: now + 30_000 });
  beforeEach(() => {
    lost = [];
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  });
  /** Advances in steps of a second, like the timers of an awake process. */
  const lives = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      passes(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };

  it("gives up before another process may take the lease if it cannot renew", async () => {
    const failing = withRenewal(() => Promise.reject(new Error("disk full")));
    await using _kept = keep(await granted(), failing);
    await lives(24);
    expect(lost).toEqual([]);
    await lives(2);
    expect(lost).toMatchObject([{ code: "lease_lost" }]);
    await lives(60);
    expect(lost).toHaveLength(1);
  });

  it("gives up if a renewal hangs", async () => {
    let answer: (error: Error) => void = () => undefined;
    const hanging = withRenewal(() => new Promise((_, reject) => (answer = reject)));
    const kept = keep(await granted(), hanging);
    await lives(26);
    expect(lost).toMatchObject([{ code: "lease_lost" }]);
    answer(new Error("at last"));
    await kept[Symbol.asyncDispose]();
  });

  it("keeps the lease through 13 seconds of failed renewals", async () => {
    let isLocked = false;
    const locked = withRenewal((leases, until) =>
      isLocked ? Promise.reject(new Error("locked")) : store.renewLeases(leases, until),
    );
    await using _kept = keep(await granted(), locked);
    await lives(9);
    isLocked = true;
    await lives(13);
    isLocked = false;
    await lives(60);
    expect(lost).toEqual([]);
  });

  it("continues after a one-minute stop if nobody took the lease, and otherwise gives up", async () => {
    await using _kept = keep(await granted());
    passes(60_000); // no timer fired meanwhile
    await lives(1);
    expect(lost).toEqual([]);
    const { until, generation } = (await store.currentLease(ID))!;
    expect(until).toBeGreaterThan(now);
    passes(60_000);
    await store.acquireLease({ sessionId: ID, owner: "successor/1", now, until: now + 30_000, supersede: generation });
    await lives(1);
    expect(lost).toMatchObject([{ code: "lease_lost" }]);
  });

  it("verifies the lease after a stop before it starts a child", async () => {
    await using _kept = keep(await granted());
    const start = () => startGroup("true", [], { cwd: "/", env, marker: "holder" });
    passes(60_000);
    await using _allowed = await start();
    passes(60_000);
    const { generation } = (await store.currentLease(ID))!;
    await store.acquireLease({ sessionId: ID, owner: "successor/1", now, until: now + 30_000, supersede: generation });
    await expect(start()).rejects.toMatchObject({ code: "lease_lost" });
    expect(lost).toHaveLength(1);
  });

  it("renews all leases of a store with one call, and gives up only those that are lost", async () => {
    const calls: (readonly Lease[])[] = [];
    const counted = withRenewal((leases, until) => {
      calls.push(leases);
      return store.renewLeases(leases, until);
    });
    await using all = new DisposeStack();
    const request = (index: number) => ({ sessionId: `ses_${index}`, owner: "holder/1", now, until: now + 30_000 });
    for (let index = 0; index < 100; index += 1) {
      const lease = await store.acquireLease(request(index));
      const options = { store: counted, sessionId: lease.sessionId, owner: "holder/1", clock };
      all.use(keepLeaseRenewed(options, lease, () => lost.push(lease.sessionId)));
      passes(40); // acquired within 4 seconds
    }
    await lives(60);
    expect(calls.length).toBeLessThanOrEqual(7);
    expect(calls.at(-1)).toHaveLength(100);
    expect(lost).toEqual([]);
    for (const index of [3, 70]) await store.acquireLease({ ...request(index), owner: "successor/1", supersede: 1 });
    await lives(60);
    expect(lost).toEqual(["ses_3", "ses_70"]);
    expect(calls.at(-1)).toHaveLength(98);
  });

  it("renews another lease while the renewal of the first hangs", async () => {
    let hangs = true;
    const hanging = withRenewal((leases, until) => {
      if (!hangs) return store.renewLeases(leases, until);
      hangs = false;
      return new Promise(() => undefined);
    });
    keep(await granted(), hanging); // never disposed: its renewal never ends
    await lives(9);
    const other = await store.acquireLease({ sessionId: "ses_2", owner: "holder/2", now, until: now + 30_000 });
    const options = { store: hanging, sessionId: "ses_2", owner: "holder/2", clock };
    await using _other = keepLeaseRenewed(options, other, () => lost.push("ses_2"));
    await lives(60);
    expect(lost).toMatchObject([{ code: "lease_lost" }]);
    expect((await store.currentLease("ses_2"))!.until).toBeGreaterThan(now);
  });

  it("renews at once after the machine has slept", async () => {
    await using _kept = keep(await granted());
    now += HOUR;
    await lives(1);
    expect((await store.currentLease(ID))!.until).toBeGreaterThan(now);
    expect(lost).toEqual([]);
  });
});

function withRenewal(renewLeases: Store["renewLeases"]): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "renewLeases") return renewLeases;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The state in /proc: `T` means stopped. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}
