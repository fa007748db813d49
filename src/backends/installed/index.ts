/** Finds the installed agent programs, with their versions, logins and known issues. */
import { isAbsolute, resolve } from "node:path";
import type { AgentSpec } from "../../domain/index.ts";
import { isBackendKind } from "../../domain/enums.ts";
import {
  findProgram,
  findOnPath,
  installCommand,
  isExecutable,
  isProgramKind,
  PROGRAMS,
  type LocatedProgram,
} from "../locate.ts";
import { openVersionCache, type VersionCache } from "./version-cache.ts";
import { findKnownIssues } from "./known-issues.ts";
import { detectLogin, type Login } from "./login.ts";
import { compareVersions, findVersion } from "./version.ts";

export { detectLogin, type Login } from "./login.ts";
export { installCommand, isProgramKind, PROGRAMS, type ProgramKind } from "../locate.ts";

export interface FoundProgram {
  readonly program: string;
  readonly path: string | undefined;
  readonly from: LocatedProgram["from"] | undefined;
  readonly version: string | undefined;
  /** The version that Rookery was tested with, for a known program. */
  readonly tested: string | undefined;
  /** How `version` compares with `tested`. */
  readonly is: "tested" | "newer" | "older" | "unknown";
  readonly login: Login | undefined;
  readonly known: readonly string[];
  /** Install command for a missing program. */
  readonly install: string | undefined;
}

/** An agent with its additional environment variables. */
export type AgentWithEnvironment = AgentSpec & { readonly env?: FindOptions["env"] | undefined };

export interface FindOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Variables that hold a key despite their name. They are removed before a program runs. */
  readonly keys?: readonly string[] | undefined;
  /** Folder of the version cache. */
  readonly cacheFolder: string;
  /** Deadline for a program to print its version, in milliseconds. Default: 5 s. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const DEADLINE_MS = 5_000;

/** Returns the programs by agent name, without agents that need none or have a registered backend. Never rejects because of a program. */
export async function findPrograms(
  agents: Iterable<AgentWithEnvironment>,
  options: FindOptions,
): Promise<ReadonlyMap<string, FoundProgram>> {
  const cache = await openVersionCache(options.cacheFolder);
  const found = Array.from(agents)
    .filter(({ backend }) => isBackendKind(backend) && backend !== "api")
    .map(
      async (agent) =>
        [agent.name, await inspectAgent(agent, { ...options, env: { ...options.env, ...agent.env } }, cache)] as const,
    );
  const programs = new Map(await Promise.all(found));
  await cache.save();
  return programs;
}

/** Locates the program without starting it. */
export function locateProgram(
  { backend, command }: AgentSpec,
  place: Pick<FindOptions, "env" | "cwd">,
): LocatedProgram | undefined {
  if (isProgramKind(backend) && command === undefined) return findProgram(backend, place);
  const [program = "npx", ...rest] = command ?? [];
  if (!program.includes("/")) {
    const path = findOnPath(program, place.env);
    return path === undefined ? undefined : { command: [path, ...rest], from: "configured" };
  }
  const path = isAbsolute(program) ? program : resolve(place.cwd, program);
  return isExecutable(path) ? { command: [path, ...rest], from: "configured" } : undefined;
}

async function inspectAgent(agent: AgentSpec, options: FindOptions, cache: VersionCache): Promise<FoundProgram> {
  const located = locateProgram(agent, options);
  const { backend } = agent;
  const path = located?.command[0];
  const from = located?.from;
  if (!isProgramKind(backend)) {
    const program = agent.command?.[0] ?? "npx";
    return {
      program,
      path,
      from,
      version: undefined,
      tested: undefined,
      is: "unknown",
      login: undefined,
      known: [],
      install: undefined,
    };
  }
  const { program, tested, package: name } = PROGRAMS[backend];
  const { deadlineMs = DEADLINE_MS } = options;
  const version = located && (await findVersion(located, program, { ...options, cache, package: name, deadlineMs }));
  return {
    program,
    path,
    from,
    version,
    tested,
    is: version === undefined ? "unknown" : (COMPARISONS[compareVersions(version, tested) + 1] ?? "unknown"),
    login: detectLogin(backend, options.env),
    known: findKnownIssues(backend, version),
    install: located === undefined ? installCommand(backend) : undefined,
  };
}

const COMPARISONS = ["older", "tested", "newer"] as const;
