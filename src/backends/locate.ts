/** Locates the program of a backend: configured, on the PATH, or in the folder's node_modules. */
import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { RookeryError } from "../domain/index.ts";

/** A backend with a program that users install. */
export type ProgramKind = "claude-code" | "codex" | "gemini-cli" | "opencode";

export interface ProgramFacts {
  readonly program: string;
  /** The npm package that contains it. */
  readonly package: string;
  /** The version that this Rookery was tested with. */
  readonly tested: string;
}

export const PROGRAMS: Readonly<Record<ProgramKind, ProgramFacts>> = {
  "claude-code": { program: "claude", package: "@anthropic-ai/claude-code", tested: "2.1.325" },
  codex: { program: "codex", package: "@openai/codex", tested: "0.166.0" },
  "gemini-cli": { program: "gemini", package: "@google/gemini-cli", tested: "0.61.0" },
  opencode: { program: "opencode", package: "opencode-ai", tested: "1.18.33" },
};

export function isProgramKind(backend: string): backend is ProgramKind {
  return Object.hasOwn(PROGRAMS, backend);
}

export interface LocatedProgram {
  /** The program with its configured leading arguments. */
  readonly command: readonly string[];
  readonly from: "configured" | "path" | "node_modules";
}

export interface ProgramLookup {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly command?: readonly string[] | undefined;
}

/** Returns undefined if the program is not installed. A configured command is not checked. */
export function findProgram(kind: ProgramKind, { env, cwd, command }: ProgramLookup): LocatedProgram | undefined {
  if (command !== undefined) return { command, from: "configured" };
  const { program } = PROGRAMS[kind];
  const onPath = findOnPath(program, env);
  if (onPath !== undefined) return { command: [onPath], from: isInNodeModules(onPath) ? "node_modules" : "path" };
  const local = ancestors(cwd)
    .map((folder) => join(folder, "node_modules", ".bin", program))
    .find(isExecutable);
  return local === undefined ? undefined : { command: [local], from: "node_modules" };
}

/** npm and npx add node_modules/.bin folders to the PATH, even those of an untrusted repository. */
function isInNodeModules(path: string): boolean {
  const folder = dirname(path);
  return basename(folder) === ".bin" && basename(dirname(folder)) === "node_modules";
}

/** Ignores relative folders on the PATH: they would resolve inside an untrusted working directory. */
export function findOnPath(program: string, env: ProgramLookup["env"]): string | undefined {
  return (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

/** Throws `agent_unavailable` with the install command. */
export function requireProgram(kind: ProgramKind, agent: string, place: ProgramLookup): readonly string[] {
  const found = findProgram(kind, place);
  if (found !== undefined) return found.command;
  const { program } = PROGRAMS[kind];
  throw new RookeryError(
    "agent_unavailable",
    `${agent} needs the program ${program}, which was not found: install it with \`${installCommand(kind)}\`, or set command = ["…"] under [agents.${agent}]`,
  );
}

export function installCommand(kind: ProgramKind): string {
  return `npm install -g ${PROGRAMS[kind].package}@${PROGRAMS[kind].tested}`;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // missing, or not executable by this user
  }
}

function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}
