/** What one process needs to work with a home: the store, the owner of its leases and children, and its environment. */
import { join, resolve } from "node:path";
import { homeFolder } from "../config/index.ts";
import { withoutRookerySecrets } from "../domain/child-environment.ts";
import { RookeryError, type Store } from "../domain/index.ts";
import type { SharedServices } from "../opening/index.ts";
import { DEFAULT_LEASE_TIMING, type LeaseTiming } from "../session/index.ts";
import { DisposeStack, openOwner, sweepDeadOwners, systemClock, type Clock } from "../stdx/index.ts";
import { openConfiguredStore } from "./configured-store.ts";
import type { RookeryOptions } from "./options.ts";

export interface ProcessContext {
  readonly home: string;
  readonly store: Store;
  /** Without the secrets of Rookery itself. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly leaseTiming: LeaseTiming;
  readonly plugins: SharedServices["plugins"];
  /** The store, if this process opened it, and the owner. Add what has to close before them. */
  readonly owned: DisposeStack;
  /** Marks children of this process. Throws if the process is closed. */
  readonly claim: () => string;
  /** Resolves a path against the working directory. Throws `cwd_missing` if the current directory was deleted. */
  readonly resolveFolder: (path: string) => string;
  /** Ends the children of dead processes. */
  readonly sweep: () => Promise<void>;
}

/** Opens the store and ends the child processes of killed Rookery processes. Rejects with a `store_*` error. */
export async function openProcessContext(options: RookeryOptions): Promise<ProcessContext> {
  const { env = process.env, cwd, clock = systemClock, plugins = [] } = options;
  const { leaseTiming = DEFAULT_LEASE_TIMING } = options;
  const home = options.home ?? homeFolder(env);
  const owners = join(home, "owners");
  await using opening = new DisposeStack();
  const store = options.store ?? opening.use(await openConfiguredStore(options, home));
  const sweep = async (): Promise<void> => {
    await sweepDeadOwners(owners);
  };
  await sweep();
  const owner = opening.use(openOwner(owners));
  return {
    home,
    store,
    env: withoutRookerySecrets(env),
    clock,
    leaseTiming,
    plugins,
    claim: () => owner.claim(),
    resolveFolder: (path) => resolveFolder(cwd, path),
    sweep,
    owned: opening.move(),
  };
}

/** Options of every call that takes a lease. */
export function leaseOptionsOf({ store, clock, leaseTiming, claim }: ProcessContext) {
  return { store, clock, leaseTiming, owner: claim() };
}

function resolveFolder(cwd: string | undefined, path: string): string {
  try {
    return resolve(cwd ?? process.cwd(), path);
  } catch (cause) {
    const message = "the current directory was deleted; change to another one, or choose one with --cwd";
    throw new RookeryError("cwd_missing", message, { cause });
  }
}
