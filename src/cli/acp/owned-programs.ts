/** Owns the programs that a command starts. They end with the command, or at the next start of Rookery if it was killed. */
import { join } from "node:path";
import type { AgentCommand } from "../../programs/index.ts";
import { homeFolder } from "../../config/home.ts";
import { commandProgramEnvironment } from "../../config/own-credentials.ts";
import { openOwner, sweepDeadOwners } from "../../stdx/index.ts";
import type { Io } from "../io.ts";

export interface OwnedPrograms extends AsyncDisposable {
  /** Describes a program that runs in the current directory with this environment and stderr. */
  command(words: readonly string[]): AgentCommand;
}

export async function openOwnedPrograms(io: Io): Promise<OwnedPrograms> {
  const env = await commandProgramEnvironment(io.env, { needs: "any" });
  const owners = join(homeFolder(io.env), "owners");
  await sweepDeadOwners(owners);
  const owner = openOwner(owners);
  return {
    command: (words) => ({
      command: words,
      cwd: io.cwd(),
      env,
      marker: owner.claim(),
      onStderr: (text) => void io.stderr.write(text),
    }),
    [Symbol.asyncDispose]: () => owner[Symbol.asyncDispose](),
  };
}
