/** Explains why a program could not be started. The system reports ENOENT for three different problems. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { RookeryError, messageOf } from "../domain/errors.ts";

/** Returns `cwd_missing` if the working directory is the problem, otherwise `agent_unavailable`. */
export async function explainStartFailure(command: string, cwd: string, cause: unknown): Promise<RookeryError> {
  const folder = await describeFolderProblem(cwd);
  if (folder !== undefined) {
    return new RookeryError("cwd_missing", `cannot start ${command}: its working directory ${cwd} ${folder}`, {
      cause,
    });
  }
  return new RookeryError(
    "agent_unavailable",
    `cannot start ${command}: ${await describeProgramProblem(command, cwd, cause)}`,
    {
      cause,
    },
  );
}

async function describeFolderProblem(cwd: string): Promise<string | undefined> {
  try {
    return (await stat(cwd)).isDirectory() ? undefined : "is not a directory";
  } catch (error) {
    return readErrno(error) === "ENOENT" ? "does not exist" : "is not accessible";
  }
}

async function describeProgramProblem(command: string, cwd: string, cause: unknown): Promise<string> {
  switch (readErrno(cause)) {
    case "ENOENT":
      if (!command.includes("/")) return "there is no such program on the PATH; install it, or configure its full path";
      if (!(await exists(resolve(cwd, command)))) return "there is no such file";
      return "its interpreter (the program in its #! line) or a library loader does not exist";
    case "EACCES":
    case "EPERM":
      return "this user may not execute it (chmod +x allows it)";
    case "E2BIG":
      return "its arguments and environment exceed the system's limit";
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
      return "the system cannot start another process now; try again later";
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

function readErrno(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
