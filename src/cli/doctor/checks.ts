/** The checks of `rookery doctor`. None of them rejects. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findPrograms } from "../../backends/installed/index.ts";
import { KNOWN_PROVIDERS } from "../../backends/model-keys.ts";
import { homeFolder } from "../../config/home.ts";
import { type Config, keyVariableNames, loadConfig, resolveAgent } from "../../config/load.ts";
import { commandChildEnvironment } from "../../config/own-credentials.ts";
import { trustState } from "../../config/trust.ts";
import { messageOf } from "../../domain/errors.ts";
import { isDeadOwner } from "../../stdx/process/owner.ts";
import { findStoreDamage, type Damage } from "../../store/sqlite/damage.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { MIGRATIONS } from "../../store/sqlite/schema.ts";
import { formatBytes } from "../format.ts";
import { printNotice, type Io } from "../io.ts";
import { checkBlobs } from "./blobs.ts";
import { checkDatabase } from "./database.ts";
import { diskFinding, readDiskSpace } from "./disk.ts";
import type { Finding } from "./finding.ts";
import { readyAgents, withReadyDefault } from "../../backends/readiness.ts";

/** Checking a larger log takes seconds, so the command prints a notice. */
const SLOW_CHECK_BYTES = 256 * 1024 * 1024;
/** Maximum number of listed problems of a damaged log. */
export const MAX_DAMAGES = 20;

export function logPath({ env }: Pick<Io, "env">): string {
  return join(homeFolder(env), "rookery.db");
}

/** Ordered so that each check comes after the ones it depends on. */
export const CHECKS: readonly ((io: Io) => Promise<Finding[]>)[] = [
  checkProgram,
  checkGit,
  checkHome,
  checkDisks,
  checkLeftovers,
  checkLog,
  checkBlobs,
  checkConfiguration,
  checkTrust,
  checkKeys,
  checkAgents,
];

async function checkProgram({ version }: Io): Promise<Finding[]> {
  const untried = process.platform === "linux" ? "" : " (supported but untested)";
  const detail = `rookery ${version} on Node ${process.versions.node}, ${process.platform} ${process.arch}${untried}`;
  return [{ subject: "program", status: "ok", detail }]; // main.ts has already rejected unsupported platforms
}

async function checkGit({ env }: Io): Promise<Finding[]> {
  try {
    const options = { env: await commandChildEnvironment(env), timeout: 10_000 };
    const { stdout } = await promisify(execFile)("git", ["--version"], options);
    return [{ subject: "git", status: "ok", detail: stdout.trim() }];
  } catch {
    const advice = "install git: tasks need it";
    return [{ subject: "git", status: "warning", detail: "git was not found", advice }];
  }
}

async function checkHome({ env }: Io): Promise<Finding[]> {
  const folder = homeFolder(env);
  const there = await nearestExisting(folder);
  const writable = await access(there, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const detail = there === folder ? folder : `${folder} (created when needed)`;
  if (writable) return [{ subject: "home", status: "ok", detail }, ...(await checkFileModes(folder))];
  const advice = `give yourself write access to ${there}, or choose another folder with ROOKERY_HOME`;
  return [{ subject: "home", status: "problem", detail: `${there} is not writable`, advice }];
}

/** Warns if other users can read the log, which holds everything that agents read and wrote. */
async function checkFileModes(folder: string): Promise<Finding[]> {
  const names = ["", "rookery.db", "rookery.db-wal", "trust.json"];
  const open: string[] = [];
  for (const path of names.map((name) => join(folder, name))) {
    const mode = (await stat(path).catch(() => undefined))?.mode ?? 0;
    if ((mode & 0o077) !== 0) open.push(path);
  }
  if (open.length === 0) return [];
  const advice = `chmod go= ${open.map((path) => `'${path}'`).join(" ")}`;
  return [{ subject: "home", status: "warning", detail: "other users of this machine can read it", advice }];
}

/** Reports the disk of the working directory only if it is another one and not well. */
async function checkDisks(io: Io): Promise<Finding[]> {
  const home = await readDiskSpace(await nearestExisting(homeFolder(io.env)));
  const here = await readDiskSpace(io.cwd());
  const isSame = here?.total === home?.total && here?.free === home?.free;
  const other = here === undefined || isSame ? undefined : diskFinding(here);
  return [
    ...(home === undefined ? [] : [diskFinding(home)]),
    ...(other === undefined || other.status === "ok" ? [] : [other]),
  ];
}

async function checkLeftovers({ env }: Io): Promise<Finding[]> {
  const owners = await readdir(join(homeFolder(env), "owners")).catch(() => []);
  const dead = owners.filter(isDeadOwner).length;
  if (dead === 0) return [{ subject: "leftovers", status: "ok", detail: "none" }];
  const detail = `${dead} killed ${dead === 1 ? "process" : "processes"} may have left child processes running`;
  const advice = "the next command that opens the log ends them, for example rookery sessions";
  return [{ subject: "leftovers", status: "warning", detail, advice }];
}

async function checkLog(io: Io): Promise<Finding[]> {
  const database = await checkDatabase(io);
  if (database !== undefined) return database;
  const path = logPath(io);
  const size = await totalSize(path, `${path}-wal`);
  if (size === undefined) return [{ subject: "log", status: "ok", detail: "empty" }];
  if (size >= SLOW_CHECK_BYTES) printNotice(io, `checking ${formatBytes(size)} of log for damage…`);
  try {
    await using store = await openSqliteStore({ path });
    const sessions = await store.list({ limit: 1_000 });
    const many =
      sessions.length === 1_000
        ? "1,000 or more sessions"
        : `${sessions.length} ${sessions.length === 1 ? "session" : "sessions"}`;
    const damages = await findStoreDamage(path);
    if (damages.length > 0) return damageFindings(damages);
    return [{ subject: "log", status: "ok", detail: `version ${MIGRATIONS.length}, ${formatBytes(size)}, ${many}` }];
  } catch (error) {
    return [{ subject: "log", status: "problem", detail: messageOf(error) }];
  }
}

/** Limits the list, so that the output for a badly damaged file stays short. */
function damageFindings(damages: readonly Damage[]): Finding[] {
  const subject = "log";
  const status = "problem";
  const shown = damages.slice(0, MAX_DAMAGES).map(({ message: detail }) => ({ subject, status, detail }) as const);
  const more = damages.length - shown.length;
  const count = more > 0 ? `${more} more problems` : "the rest can be saved";
  const advice = "stop every running rookery process, then save the rest: rookery doctor --repair";
  return [...shown, { subject, status, detail: count, advice }];
}

async function checkConfiguration(io: Io): Promise<Finding[]> {
  try {
    const here = { cwd: io.cwd(), env: io.env };
    const config = withReadyDefault(await loadConfig({ ...here, trust: "assume" }), here);
    const from = config.files.length === 0 ? "built in" : config.files.join(", ");
    const { name } = resolveAgent(config);
    return [{ subject: "config", status: "ok", detail: `${from}; default agent ${name}` }];
  } catch (error) {
    return [{ subject: "config", status: "problem", detail: messageOf(error) }];
  }
}

async function checkTrust(io: Io): Promise<Finding[]> {
  try {
    const state = await trustState(io.cwd(), io.env);
    if (state.status === "nothing_to_trust") {
      return [{ subject: "trust", status: "ok", detail: `${state.root} has no files that need trust` }];
    }
    if (state.status === "trusted") return [{ subject: "trust", status: "ok", detail: `${state.root} is trusted` }];
    const what = state.changed.length > 0 ? `changed: ${state.changed.join(", ")}` : state.files.join(", ");
    const advice = "review these files, then run: rookery trust";
    return [{ subject: "trust", status: "warning", detail: `${state.root} is not trusted (${what})`, advice }];
  } catch {
    return []; // checkConfiguration reports the reason
  }
}

/** Reports whether keys are set. Never prints a key or a part of one. */
async function checkKeys(io: Io): Promise<Finding[]> {
  const { env } = io;
  const [ready] = await listReadyAgents(io);
  const otherwise = ready === undefined ? "or try it without a key: rookery demo" : `or use --agent ${ready}`;
  const asked = await neededProviders(io);
  return Array.from(KNOWN_PROVIDERS).flatMap(([provider, { keys: variables, local }]): Finding[] => {
    const subject = "keys";
    if (variables.some((variable) => (env[variable] ?? "") !== "")) {
      return [{ subject, status: "ok", detail: `${provider}: a key is set` }];
    }
    if (local === true || !asked.has(provider)) return [];
    const advice = `export ${variables[0] ?? ""}=…, ${otherwise}`;
    return [{ subject, status: "warning", detail: `${provider}: no key is set`, advice }];
  });
}

/** Returns the providers of the default agent and of the agents in the configuration. */
async function neededProviders(io: Io): Promise<ReadonlySet<string>> {
  const config = await tryLoadConfig(io);
  const agents = Array.from(config?.agents.values() ?? []).filter(({ name, backend, builtIn }) => {
    return backend === "api" && (!builtIn || name === config?.defaults.agent || name === "anthropic");
  });
  return new Set(agents.flatMap(({ model }) => model?.split("/")[0] ?? []));
}

/** Summarizes the output of `rookery agents`. */
async function checkAgents(io: Io): Promise<Finding[]> {
  const here = { env: io.env, cwd: io.cwd() };
  const config = await tryLoadConfig(io);
  if (config === undefined) return [];
  const cacheFolder = join(homeFolder(io.env), "cache");
  const found = await findPrograms(config.agents.values(), {
    ...here,
    keys: keyVariableNames(config),
    cacheFolder,
  });
  const words = Array.from(found).flatMap(([name, { from, version, login }]) => {
    if (from === undefined) return [`${name} not found`];
    if (version === undefined && login === undefined) return []; // the list of ready agents has it
    const state = login?.state === "unknown" ? "login unknown" : login?.state;
    return [[name, version, state && `(${state})`].filter((word) => word !== undefined).join(" ")];
  });
  const ready = await listReadyAgents(io);
  const named = ready.length === 0 ? "none is ready" : `ready: ${ready.join(", ")}`;
  const detail = [named, ...(words.length === 0 ? [] : [words.join(", ")])].join("; ");
  if (ready.length > 0) return [{ subject: "agents", status: "ok", detail }];
  return [{ subject: "agents", status: "warning", detail, advice: "see what they need: rookery agents" }];
}

async function listReadyAgents(io: Io): Promise<string[]> {
  const config = await tryLoadConfig(io);
  return config === undefined ? [] : readyAgents(config, { env: io.env, cwd: io.cwd() });
}

/** Returns undefined if the configuration is invalid; checkConfiguration reports the reason. */
async function tryLoadConfig(io: Io): Promise<Config | undefined> {
  return loadConfig({ cwd: io.cwd(), env: io.env, trust: "leave_out" }).catch(() => undefined);
}

async function nearestExisting(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined || folder === dirname(folder)) return folder;
  }
}

/** Returns the total size of the files, or undefined if the first one does not exist. */
async function totalSize(first: string, ...others: string[]): Promise<number | undefined> {
  const size = async (path: string) => (await stat(path).catch(() => undefined))?.size;
  const main = await size(first);
  if (main === undefined) return undefined;
  const rest = await Promise.all(others.map(size));
  return rest.reduce<number>((sum, more) => sum + (more ?? 0), main);
}
