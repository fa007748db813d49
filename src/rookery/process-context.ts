/**
 * The context of one process that works with a home: the store, the owner of its leases and children, and its
 * environment.
 */
import { join, resolve } from "node:path";
import {
  environmentOfHome,
  homeFolder,
  readMachineConfig,
  withoutOwnCredentials,
  type MachineConfig,
} from "../config/index.ts";
import { registerBackends, registerProviders } from "../backends/index.ts";
import { withoutRookerySecrets } from "../domain/child-environment.ts";
import { RookeryError, type Store } from "../domain/index.ts";
import type { SharedServices } from "../opening/index.ts";
import type { LeaseTiming } from "../session/index.ts";
import {
  declareHost,
  DisposeStack,
  machinePidScope,
  openOwner,
  ownPidScope,
  sweepDeadOwners,
  systemClock,
  type Clock,
} from "../stdx/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { openConfiguredStore } from "./configured-store.ts";
import { openConfiguredTelemetry } from "./configured-telemetry.ts";
import { agreeOnLease } from "./lease-agreement.ts";
import type { RookeryOptions } from "./options.ts";

export interface ProcessContext {
  readonly home: string;
  readonly store: Store;
  /** Undefined if nothing is measured. */
  readonly telemetry: Telemetry | undefined;
  /** Without the secrets of Rookery itself and the credentials of the configured store and blobs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly leaseTiming: LeaseTiming;
  readonly machine: MachineConfig;
  /** The ID of this host, if other hosts can open the store. */
  readonly sharedHost: string | undefined;
  readonly plugins: SharedServices["plugins"];
  readonly backends: SharedServices["backends"];
  readonly providers: SharedServices["providers"];
  /** The store, if this process opened it, and the owner. Add what has to close before them. */
  readonly owned: DisposeStack;
  /** Marks children of this process. Throws if the process is closed. */
  readonly claim: () => string;
  /** Resolves a path against the working directory. Throws `cwd_missing` if the current directory was deleted. */
  readonly resolveFolder: (path: string) => string;
  /** Ends the children of dead processes. */
  readonly sweep: () => Promise<void>;
}

/**
 * Opens the store and ends the child processes of killed Rookery processes. Rejects with a `store_*` error, or with
 * `config_invalid`.
 */
export async function openProcessContext(given: RookeryOptions): Promise<ProcessContext> {
  const { cwd, clock = systemClock, plugins = [] } = given;
  const env =
    given.home === undefined ? (given.env ?? process.env) : environmentOfHome(given.env ?? process.env, given.home);
  const options = { ...given, env };
  const home = given.home ?? homeFolder(env);
  const backends = registerBackends(options.backends ?? []);
  const providers = registerProviders(options.providers ?? []);
  const machine = await readMachineConfig(options.host === undefined ? env : { ...env, ROOKERY_HOST_ID: options.host });
  const { id: host, isDeclared } = machine.host;
  declareHost(isDeclared ? host : undefined);
  const owners = join(home, "owners");
  await using opening = new DisposeStack();
  const { store: opened, isShared } =
    options.store === undefined
      ? await openOwnStore(opening, options, home)
      : { store: options.store, isShared: options.host !== undefined };
  const leaseTiming = options.leaseTiming ?? (await agreeOnLease(machine.lease, { store: opened, clock, isShared }));
  const sweep = async (): Promise<void> => {
    await sweepDeadOwners(owners);
  };
  await sweep();
  const owner = opening.use(openOwner(owners, isDeclared ? ownPidScope(host) : machinePidScope()));
  const telemetry = await openConfiguredTelemetry(options, { store: opened, claim: () => owner.claim() });
  if (telemetry !== undefined) opening.use(telemetry);
  return {
    home,
    store: telemetry?.store ?? opened,
    telemetry,
    env: withoutRookerySecrets(await withoutOwnCredentials(env)),
    clock,
    leaseTiming,
    machine,
    sharedHost: isShared ? host : undefined,
    plugins,
    backends,
    providers,
    claim: () => owner.claim(),
    resolveFolder: (path) => resolveFolder(cwd, path),
    sweep,
    owned: opening.move(),
  };
}

async function openOwnStore(
  opening: DisposeStack,
  options: RookeryOptions,
  home: string,
): Promise<Awaited<ReturnType<typeof openConfiguredStore>>> {
  const opened = await openConfiguredStore(options, home);
  opening.use(opened.store);
  return opened;
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
