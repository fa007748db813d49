/** Resolves how to start an agent of the registry, without network access. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { RookeryError } from "../../../domain/errors.ts";
import { didYouMean } from "../../../stdx/index.ts";
import type { BinaryDistribution, RegistryAgent, RegistryIndex } from "./schema.ts";

export interface Launch {
  readonly command: readonly string[];
  /** Variables to add to the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly from: "npx" | "uvx" | "binary";
  /** The package that npx or uvx downloads on first use. */
  readonly package?: string;
  /** The archive that contains the binary. */
  readonly archive?: string;
}

export interface LaunchOptions {
  /** As in `process.platform`. Default: this machine. */
  readonly platform?: string | undefined;
  readonly arch?: string | undefined;
  /**
   * Directory of unpacked archives, each in `<id>/<version>`. Default: `rookery/agents` in the user's cache directory.
   */
  readonly cacheDir?: string | undefined;
}

const SYSTEMS: Readonly<Record<string, string>> = { win32: "windows" };
const MACHINES: Readonly<Record<string, string>> = { arm64: "aarch64", x64: "x86_64" };
const MAX_LISTED = 12;

/**
 * Throws `agent_unknown` for an unknown id, and `agent_unavailable` if the agent cannot run here or is not installed.
 */
export function resolveLaunch(index: RegistryIndex, id: string, options: LaunchOptions = {}): Launch {
  const agent = index.agents.find((each) => each.id === id);
  if (agent === undefined) throw unknownAgentError(index, id);
  const { npx, uvx, binary, ...others } = agent.distribution;
  if (npx !== undefined) {
    const { package: name, cmd, args, env } = npx;
    const start = cmd === undefined ? ["npx", "-y", name] : ["npx", "-y", "--package", name, cmd];
    return { command: [...start, ...args], env, from: "npx", package: name };
  }
  if (uvx !== undefined) {
    const { package: name, cmd, args, env } = uvx;
    const start = cmd === undefined ? ["uvx", name] : ["uvx", "--from", name, cmd];
    return { command: [...start, ...args], env, from: "uvx", package: name };
  }
  if (binary !== undefined) return resolveBinaryLaunch(agent, binary, options);
  const kinds = Object.keys(others).join(", ");
  throw unavailableError(`${id} has no supported distribution${kinds === "" ? "" : ` (${kinds})`}`);
}

function resolveBinaryLaunch(
  { id, version }: RegistryAgent,
  builds: Readonly<Record<string, BinaryDistribution>>,
  { platform = process.platform, arch = process.arch, cacheDir = defaultCacheDir() }: LaunchOptions,
): Launch {
  const target = `${SYSTEMS[platform] ?? platform}-${MACHINES[arch] ?? arch}`;
  const build = builds[target];
  if (build === undefined) {
    throw unavailableError(
      `${id} ${version} has no build for ${target}; it has ${Object.keys(builds).sort().join(", ")}`,
    );
  }
  const { archive, sha256, cmd, args, env } = build;
  const folder = join(cacheDir, id, version);
  const program = join(folder, cmd);
  const way = relative(folder, program);
  if (way === "" || way.startsWith("..") || isAbsolute(way)) {
    throw unavailableError(`the registry names ${cmd} as the program of ${id}, which is outside of its archive`);
  }
  if (!existsSync(program)) {
    const sum = sha256 === undefined ? "" : ` (sha256 ${sha256})`;
    throw unavailableError(
      `${id} ${version} is not installed: download ${archive}${sum} and unpack it into ${folder}, so that ${program} exists`,
    );
  }
  return { command: [program, ...args], env, from: "binary", archive };
}

function unknownAgentError(index: RegistryIndex, id: string): RookeryError {
  const broken = index.unusable.find((each) => each.id === id);
  if (broken !== undefined) return unavailableError(`the registry's entry for ${id} cannot be used: ${broken.why}`);
  const ids = index.agents.map((agent) => agent.id).sort();
  const more = ids.length > MAX_LISTED ? `, and ${ids.length - MAX_LISTED} more` : "";
  const listed = ids.length === 0 ? "it is empty" : `it has ${ids.slice(0, MAX_LISTED).join(", ")}${more}`;
  const message = `there is no agent "${id}" in the registry${didYouMean(id, ids)}; ${listed}`;
  return new RookeryError("agent_unknown", message);
}

function unavailableError(message: string): RookeryError {
  return new RookeryError("agent_unavailable", message);
}

function defaultCacheDir(): string {
  const cache = process.env["XDG_CACHE_HOME"];
  return join(cache !== undefined && isAbsolute(cache) ? cache : join(homedir(), ".cache"), "rookery", "agents");
}
