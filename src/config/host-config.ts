/** Settings of this machine and of its workers, from the user's file. A repository cannot set them. */
import { dirname, resolve } from "node:path";
import { RookeryError } from "../domain/errors.ts";
import { deriveHostId } from "../stdx/process/pid-scope.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { parseConfigFile } from "./repository-files.ts";
import type { ConfigTable } from "./schema.ts";

export interface HostConfig {
  /** Names the machine among those that share a store. */
  readonly id: string;
  /** False if the ID is derived from the host name and the machine ID. */
  readonly isDeclared: boolean;
  /** The folder for mirrors of remotes and their worktrees. Default: in the home. */
  readonly root: string | undefined;
  /** How many tasks all processes of the host run at once. Default: the limit of the whole cluster. */
  readonly maxRunning: number | undefined;
  /** `mirror`: tasks of other hosts run here if their repository has a remote. `pinned`: only tasks of this host do. */
  readonly repositories: "mirror" | "pinned";
  /** How often the work of a running task is saved to the remote, in milliseconds. */
  readonly saveMs: number;
}

export interface WorkerConfig {
  /** How many tasks one worker runs at once. Default: the limit of the whole cluster. */
  readonly maxRunning: number | undefined;
  /** Takes only tasks of these agents. Default: all. */
  readonly agents: readonly string[] | undefined;
  readonly labels: readonly string[];
  /** How long an interrupted task waits for its last host, in milliseconds. */
  readonly preferLastHostMs: number;
}

/** In milliseconds. */
export interface LeaseConfig {
  readonly ttlMs: number;
  readonly renewMs: number;
}

export interface MachineConfig {
  readonly host: HostConfig;
  readonly worker: WorkerConfig;
  /** Undefined if the file does not set it. */
  readonly lease: LeaseConfig | undefined;
}

const SAVE_INTERVAL_S = 60;
const PREFER_LAST_HOST_S = 60;
const DEFAULT_TTL_S = 30;
/** A lease is renewed this many times before it expires, unless `renew` is set. */
const RENEWALS = 3;

/** `ROOKERY_HOST_ID` overrides `[host] id`. Rejects with `config_invalid`. */
export async function readMachineConfig(env: EnvironmentVariables): Promise<MachineConfig> {
  const file = userConfigFile(env);
  const { host, worker, lease } = await readTables(file);
  const fromEnvironment = env["ROOKERY_HOST_ID"] === "" ? undefined : env["ROOKERY_HOST_ID"];
  const id = fromEnvironment ?? host?.id;
  return {
    host: {
      id: id === undefined ? deriveHostId() : checkHostId(id, fromEnvironment === undefined ? file : "ROOKERY_HOST_ID"),
      isDeclared: id !== undefined,
      root: host?.root === undefined ? undefined : resolve(dirname(file), host.root),
      maxRunning: host?.max_running,
      repositories: host?.repositories ?? "mirror",
      saveMs: (host?.save_interval ?? SAVE_INTERVAL_S) * 1000,
    },
    worker: {
      maxRunning: worker?.max_running,
      agents: worker?.agents,
      labels: worker?.labels ?? [],
      preferLastHostMs: (worker?.prefer_last_host ?? PREFER_LAST_HOST_S) * 1000,
    },
    lease: lease && toLeaseConfig(lease, file),
  };
}

/** Parses the file only if it may have one of the tables, because parsing slows the start of every command. */
async function readTables(file: string): Promise<Pick<ConfigTable, "host" | "worker" | "lease">> {
  const read = await readTextFile(file);
  return /\b(?:host|worker|lease)\b/.test(read?.text ?? "") ? parseConfigFile(read?.text ?? "", file) : {};
}

/** The ID is a part of file names and of owner texts. */
function checkHostId(id: string, where: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(id)) return id;
  const rule = "use at most 63 letters, digits, -, _ and ., beginning with a letter or digit";
  throw new RookeryError("config_invalid", `${where}: ${JSON.stringify(id.slice(0, 80))} cannot be a host id: ${rule}`);
}

function toLeaseConfig(
  { ttl = DEFAULT_TTL_S, renew = ttl / RENEWALS }: NonNullable<ConfigTable["lease"]>,
  file: string,
) {
  if (renew <= ttl / 2) return { ttlMs: ttl * 1000, renewMs: renew * 1000 };
  const rule = `it must be at most half of lease.ttl, which is ${ttl}`;
  throw new RookeryError("config_invalid", `${file}: lease.renew is ${renew}: ${rule}`);
}
