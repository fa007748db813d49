/** Checks the directories that an agent may use besides the working directory. */
import { realpath } from "node:fs/promises";
import { RookeryError } from "../domain/errors.ts";
import { isOutside } from "./files.ts";

/**
 * Rejects with `config_invalid` if a directory of the repository is a symbolic link that leaves it. Trust covers the
 * name of the directory, not where a link leads.
 */
export async function requireOwnFolders(
  folders: readonly string[],
  { root, cwd }: { readonly root: string; readonly cwd: string },
): Promise<void> {
  for (const folder of folders) {
    const around = [root, cwd].find((each) => !isOutside(folder, each));
    if (around === undefined) continue; // named with a path that leaves the repository on purpose
    const real = await realpath(folder).catch(() => undefined); // the tools ignore missing directories
    if (real === undefined || !isOutside(real, await realpath(around))) continue;
    const fix = "name the directory that it leads to instead";
    throw new RookeryError(
      "config_invalid",
      `folders: ${folder} is a symbolic link to ${real}, outside of ${around}; ${fix}`,
    );
  }
}
