/** Finds files of the built package, from the source tree and from the bundled command. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_LEVELS = 5;

/** `name` is relative to `dist/`. Returns undefined if the file is missing, which means that the package is incomplete. */
export function findPackageFile(name: string): string | undefined {
  const url: string | undefined = import.meta.url;
  let folder = url === undefined || url === "" ? undefined : dirname(fileURLToPath(url));
  for (let level = 0; folder !== undefined && level < MAX_LEVELS; level += 1) {
    for (const file of [join(folder, name), join(folder, "dist", name)]) if (existsSync(file)) return file;
    folder = dirname(folder);
  }
  return undefined;
}
