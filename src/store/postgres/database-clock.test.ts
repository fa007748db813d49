import { describe, expect, it } from "vitest";
import { isDriven, keepLeaseRenewed, takeLease } from "../../session/index.ts";
import { systemClock } from "../../stdx/index.ts";
import { createTask, SESSION } from "../contract/scene.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();
const HOUR = 3_600_000;
const TTL = 30_000;
const timing = { ttlMs: TTL, renewMs: 10_000 };

/** Opens the same store on two machines. The clock of the second one differs, and can be set. */
async function openMachines(differenceMs: number) {
  const options = await schemas.next();
  let offset = differenceMs;
  let slept = 0;
  const clock = { now: () => Date.now() + slept + offset, awake: () => performance.now() + slept };
  const right = await openPostgresStore(options);
  const wrong = await openPostgresStore(options, { clock });
  return {
    right,
    wrong,
    clock,
    setClock: (ms: number) => (offset += ms),
    /** Makes the time of the second machine and of the database pass. */
    pass: async (ms: number) => {
      slept += ms;
      await schemas.query(`update "${options.schema}".lease set until = until - ${ms}`);
    },
    async [Symbol.asyncDispose]() {
      await right[Symbol.asyncDispose]();
      await wrong[Symbol.asyncDispose]();
    },
  };
}

const take = { sessionId: SESSION, owner: "h1-1-1.1.1.aa" };
const takeAgain = { sessionId: SESSION, owner: "h2-2-2.2.2.bb" };

describe.skipIf(!hasTestPostgres).each([
  ["an hour ahead", HOUR],
  ["an hour behind", -HOUR],
])("a machine whose clock is %s", (_, difference) => {
  it("does not take the lease of a living process, and takes that of a dead one when it expires", async () => {
    await using machines = await openMachines(difference);
    const { right, wrong, clock } = machines;
    await takeLease({ ...take, store: right, clock: systemClock, timing });
    expect(await isDriven(wrong, SESSION, clock, timing)).toBe(true);
    await expect(takeLease({ ...takeAgain, store: wrong, clock, timing })).rejects.toMatchObject({
      code: "session_in_use",
    });
    await machines.pass(TTL + 1_000);
    expect(await isDriven(wrong, SESSION, clock, timing)).toBe(false);
    expect((await takeLease({ ...takeAgain, store: wrong, clock, timing })).generation).toBe(2);
  });

  it("keeps its own lease for its lifetime, and not longer", async () => {
    await using machines = await openMachines(difference);
    const { right, wrong, clock } = machines;
    const lease = await takeLease({ ...take, store: wrong, clock, timing });
    expect(Math.abs(lease.until - clock.now() - TTL)).toBeLessThan(5_000);
    const seen = await right.currentLease(SESSION);
    expect(Math.abs(seen!.until - Date.now() - TTL)).toBeLessThan(5_000);
    expect(await wrong.currentLease(SESSION)).toEqual(lease);
    const [renewed] = await wrong.renewLeases([lease], clock.now() + 2 * TTL);
    expect(Math.abs((await right.currentLease(SESSION))!.until - Date.now() - 2 * TTL)).toBeLessThan(5_000);
    expect(renewed!.until).toBe((await wrong.currentLease(SESSION))!.until);
  });

  it("claims tasks under a lease in the time of the database, and lists it in its own time", async () => {
    await using machines = await openMachines(difference);
    const { right, wrong, clock } = machines;
    await createTask(right, "a");
    const now = clock.now();
    const claimed = await wrong.claimTask({ owner: "o", now, until: now + TTL, choose: ([first]) => first?.id });
    expect(claimed!.state.startedAt).toBe(new Date(now).toISOString());
    const [[held], [seen]] = [await wrong.heldTasks(), await right.heldTasks()];
    expect(held!.lease).toEqual(claimed!.lease);
    expect(Math.abs(seen!.lease!.until - Date.now() - TTL)).toBeLessThan(5_000);
  });
});

describe.skipIf(!hasTestPostgres)("a clock that is set by an hour", () => {
  it("leaves the duration of leases unchanged from the next call on", async () => {
    await using machines = await openMachines(0);
    const { right, wrong, clock } = machines;
    const lease = await takeLease({ ...take, store: wrong, clock, timing });
    await using _kept = keepLeaseRenewed({ ...take, store: wrong, clock, timing }, lease, () => undefined);
    machines.setClock(-HOUR);
    await wrong.renewLeases([lease], clock.now() + TTL);
    expect(Math.abs((await right.currentLease(SESSION))!.until - Date.now() - TTL)).toBeLessThan(5_000);
  });
});
