/** Checks whether a program can be started, without starting it. For programs that a shell will `exec`. */
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from "node:fs";
import type { EnvironmentVariables } from "../environment.ts";
import { delimiter, join, resolve } from "node:path";

const FIRST_LINE_BYTES = 256;

/** Searches the PATH of `env`, like the system does. Also false for names that a shell would treat differently. */
export function isProgramFile(program: string, cwd: string, env: EnvironmentVariables): boolean {
  if (program === "" || program.startsWith("-")) return false;
  if (program.includes("/")) return isExecutable(resolve(cwd, program));
  const path = env["PATH"];
  return (
    path !== undefined && path.split(delimiter).some((folder) => isExecutable(resolve(cwd, join(folder, program))))
  );
}

function isExecutable(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    const interpreter = interpreterOf(path);
    return interpreter === undefined || existsSync(interpreter);
  } catch {
    return false;
  }
}

/** The interpreter that the first line of a script names. */
function interpreterOf(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined; // an executable may be unreadable
  }
  try {
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    const length = readSync(fd, bytes, 0, FIRST_LINE_BYTES, 0);
    return /^#![ \t]*(\S+)/.exec(bytes.toString("latin1", 0, length))?.[1];
  } finally {
    closeSync(fd);
  }
}
