/** Checks whether a program can be started without starting it, for programs that a shell will exec. */
import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import type { EnvironmentVariables } from "../stdx/index.ts";
import { explainStartFailure } from "./start-failure.ts";

interface RunLocation {
  readonly cwd: string;
  readonly env: EnvironmentVariables;
}

/** Rejects with `agent_unavailable` or `cwd_missing`. */
export async function requireRunnable(program: string, place: RunLocation): Promise<void> {
  const trouble = await findStartProblem(program, place);
  if (trouble !== undefined) throw await explainStartFailure(program, place.cwd, trouble);
}

/** Returns the error that the system would report, or undefined. */
async function findStartProblem(
  program: string,
  { cwd, env }: RunLocation,
): Promise<NodeJS.ErrnoException | undefined> {
  try {
    if (!(await stat(cwd)).isDirectory()) return errno("ENOTDIR");
    const paths = program.includes("/")
      ? [resolve(cwd, program)]
      : (env["PATH"] ?? "").split(delimiter).map((folder) => resolve(cwd, join(folder, program)));
    const path = await firstFile(paths);
    await access(path, constants.X_OK);
    await checkInterpreter(path);
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

async function firstFile(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() === true) return path;
  }
  throw errno("ENOENT");
}

const FIRST_LINE = 256;

/** Rejects if the interpreter in the #! line does not exist. */
async function checkInterpreter(path: string): Promise<void> {
  await using file = await open(path).catch(() => undefined); // a file may be executable but not readable
  const { buffer, bytesRead } = (await file?.read(Buffer.alloc(FIRST_LINE), 0, FIRST_LINE, 0)) ?? NOTHING;
  const [, interpreter] = /^#![ \t]*(\S+)/.exec(buffer.toString("latin1", 0, bytesRead)) ?? [];
  if (interpreter !== undefined) await stat(interpreter);
}

const NOTHING = { buffer: Buffer.alloc(0), bytesRead: 0 };

function errno(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}
