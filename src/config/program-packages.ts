/** Finds the packages of a program in a repository: its own package and all dependencies. */
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The hash limits refuse a program with more packages anyway. */
const MAX_PACKAGES = 500;

/** Returns real paths, possibly outside of `root`. Empty if the program does not exist or belongs to no package. */
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

/** Includes optional dependencies, which contain the platform's binary (Claude Code, Codex, opencode). */
async function readDependencies(folder: string): Promise<string[]> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    const lists = [manifest["dependencies"], manifest["optionalDependencies"], manifest["peerDependencies"]];
    return lists.flatMap((list) => (typeof list === "object" && list !== null ? Object.keys(list) : []));
  } catch {
    return []; // without a manifest, it has no dependencies
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
