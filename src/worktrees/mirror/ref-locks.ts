/** Removes locks of refs that a killed git left in a mirror. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Call it only with the lock of the mirror: a process that takes this lock over ends the git processes of its previous
 * owner first, so the locks of the refs belong to nobody. No ref can have a name that ends in `.lock`.
 */
export async function removeRefLocks(gitDir: string): Promise<void> {
  for (const name of ["packed-refs", "HEAD", "config", "shallow"])
    await rm(join(gitDir, `${name}.lock`), { force: true });
  const entries = await readdir(join(gitDir, "refs"), { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile() && entry.name.endsWith(".lock")) await rm(join(entry.parentPath, entry.name), { force: true });
  }
}
