/** Why a program could not be started, in words: the system says ENOENT for three different things. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { RookeryError, messageOf } from "../domain/errors.ts";

/** `agent_unavailable`, or `cwd_missing` where it is the folder that is missing. */
export async function startFailure(command: string, cwd: string, cause: unknown): Promise<RookeryError> {
  const folder = await folderTrouble(cwd);
  if (folder !== undefined) {
    return new RookeryError("cwd_missing", `cannot start ${command}: its working folder ${cwd} ${folder}`, { cause });
  }
  return new RookeryError(
    "agent_unavailable",
    `cannot start ${command}: ${await programTrouble(command, cwd, cause)}`,
    {
      cause,
    },
  );
}

async function folderTrouble(cwd: string): Promise<string | undefined> {
  try {
    return (await stat(cwd)).isDirectory() ? undefined : "is no folder";
  } catch (error) {
    return codeOf(error) === "ENOENT" ? "does not exist" : "cannot be used";
  }
}

async function programTrouble(command: string, cwd: string, cause: unknown): Promise<string> {
  switch (codeOf(cause)) {
    case "ENOENT":
      if (!command.includes("/")) return "there is no such program on the PATH; install it, or give its path";
      if (!(await exists(resolve(cwd, command)))) return "there is no such file";
      return "the program that its first line names, or that it needs to be loaded, does not exist";
    case "EACCES":
    case "EPERM":
      return "it is not executable by this user (chmod +x makes it so)";
    case "E2BIG":
      return "its arguments and environment are too long";
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
      return "the system has no room for another process now; try again";
    default:
      return messageOf(cause);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
