/** Finds the packages that a program among a repository's packages consists of: its own, and all that it depends on. */
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A program with more is refused by the bounds of hashing in any case. */
const MAX_PACKAGES = 500;

/** Empty if there is no such program, or it belongs to no package. Real paths; those outside of `root` among them. */
export async function findProgramPackages(program: string, root: string): Promise<readonly string[]> {
  const real = await realpath(program).catch(() => undefined);
  const own = real === undefined ? undefined : await findPackage(real, root);
  if (own === undefined) return [];
  const found = new Set([own]);
  for (const folder of found) {
    for (const name of await readDependencies(folder)) {
      const dependency = await resolvePackage(name, folder);
      if (dependency !== undefined && found.size < MAX_PACKAGES) found.add(dependency);
    }
  }
  return [...found];
}

async function findPackage(file: string, root: string): Promise<string | undefined> {
  for (let folder = dirname(file); folder !== dirname(folder) && folder !== root; folder = dirname(folder)) {
    if (basename(folder) === "node_modules" || basename(folder) === ".bin") return undefined;
    if (await packageExists(join(folder, "package.json"))) return folder;
  }
  return undefined;
}

/** Optional ones are the program itself for one platform (Claude Code, Codex, opencode). */
async function readDependencies(folder: string): Promise<string[]> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    const lists = [manifest["dependencies"], manifest["optionalDependencies"], manifest["peerDependencies"]];
    return lists.flatMap((list) => (typeof list === "object" && list !== null ? Object.keys(list) : []));
  } catch {
    return []; // it names nothing that could be loaded by its name
  }
}

async function resolvePackage(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (await packageExists(candidate)) return realpath(candidate).catch(() => undefined);
  }
  return undefined;
}

async function packageExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
