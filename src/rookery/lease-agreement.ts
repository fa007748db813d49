/**
 * Makes all processes of a shared store use the same lease timing, because each process uses it to decide whether the
 * leases of others have expired.
 */
import type { LeaseConfig } from "../config/index.ts";
import { RookeryError, type Store } from "../domain/index.ts";
import { DEFAULT_LEASE_TIMING, type LeaseTiming } from "../session/index.ts";
import type { Clock } from "../stdx/index.ts";

export interface AgreementParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly isShared: boolean;
}

/**
 * Resolves with the timing in the store; the first process records it. A configured timing replaces it if no worker is
 * alive. Otherwise rejects with `config_invalid` if they differ.
 */
export async function agreeOnLease(
  configured: LeaseConfig | undefined,
  { store, clock, isShared }: AgreementParts,
): Promise<LeaseTiming> {
  const own = configured ?? DEFAULT_LEASE_TIMING;
  if (!isShared) return own;
  const setting = { name: "lease", value: formatTiming(own) };
  const agreed = await store.agreeOnSetting(setting);
  if (agreed === setting.value) return own;
  const recorded = parseTiming(agreed);
  if (configured === undefined && recorded !== undefined) return recorded;
  const living = (await store.workers()).filter(({ until, state }) => until > clock.now() && state !== "stopped");
  if (living.length === 0) {
    await store.agreeOnSetting({ ...setting, replace: true });
    return own;
  }
  const hosts = [...new Set(living.map(({ host }) => host))].join(", ");
  throw new RookeryError(
    "config_invalid",
    `[lease] is ${setting.value}, but the workers of this store (hosts ${hosts}) use ${agreed}: make it the same on all hosts, and stop all workers to change it`,
  );
}

function formatTiming({ ttlMs, renewMs }: LeaseTiming): string {
  return `ttl = ${ttlMs / 1000}, renew = ${renewMs / 1000}`;
}

function parseTiming(text: string): LeaseTiming | undefined {
  const [, ttl, renew] = /^ttl = ([\d.]+), renew = ([\d.]+)$/.exec(text) ?? [];
  return ttl === undefined || renew === undefined
    ? undefined
    : { ttlMs: Number(ttl) * 1000, renewMs: Number(renew) * 1000 };
}
