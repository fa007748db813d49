/** Where the program of a backend is: as configured, on the PATH, or among the packages of the folder. */
import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { RookeryError } from "../domain/index.ts";

/** A backend whose program people install. */
export type ProgramKind = "claude-code" | "codex" | "gemini-cli" | "opencode";

export interface ProgramFacts {
  readonly program: string;
  /** The package that brings it. */
  readonly package: string;
  /** The version that this version of Rookery was tested with. */
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

export interface Located {
  /** The program, and what is configured to stand before its own arguments. */
  readonly command: readonly string[];
  readonly from: "configured" | "path" | "node_modules";
}

export interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly command?: readonly string[] | undefined;
}

/** Undefined where it is nowhere; what is configured is not looked at. */
export function find(kind: ProgramKind, { env, cwd, command }: Place): Located | undefined {
  if (command !== undefined) return { command, from: "configured" };
  const { program } = PROGRAMS[kind];
  const onPath = findOnPath(program, env);
  if (onPath !== undefined) return { command: [onPath], from: isAmongPackages(onPath) ? "node_modules" : "path" };
  const local = ancestors(cwd)
    .map((folder) => join(folder, "node_modules", ".bin", program))
    .find(isExecutable);
  return local === undefined ? undefined : { command: [local], from: "node_modules" };
}

/** npm and npx put the packages of a folder on the PATH, whosever folder it is. */
function isAmongPackages(path: string): boolean {
  const folder = dirname(path);
  return basename(folder) === ".bin" && basename(dirname(folder)) === "node_modules";
}

/** A folder that is named from where one stands is another's as soon as one stands in what another wrote. */
export function findOnPath(program: string, env: Place["env"]): string | undefined {
  return (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

/** Throws `agent_unavailable` with the command that would install it. */
export function locate(kind: ProgramKind, agent: string, place: Place): readonly string[] {
  const found = find(kind, place);
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
    return false; // not there, or not ours to run
  }
}

function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}
