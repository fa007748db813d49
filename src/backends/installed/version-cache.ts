/** Caches program versions between commands, because querying a version takes as long as starting the program. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

export interface VersionCache {
  get(stamp: string): string | undefined;
  set(stamp: string, version: string): void;
  /** Writes the cache. Ignores failures. */
  save(): Promise<void>;
}

const CachedVersions = z.record(z.string(), z.string());
/** Maximum number of entries; the oldest are dropped first. */
const MAX_VERSIONS = 50;

export async function openVersionCache(folder: string): Promise<VersionCache> {
  const file = join(folder, "versions.json");
  const versions = new Map(Object.entries(await readVersions(file)));
  let changed = false;
  return {
    get: (stamp) => versions.get(stamp),
    set(stamp, version) {
      versions.set(stamp, version);
      changed = true;
    },
    async save() {
      if (!changed) return;
      const temporary = `${file}.${randomBytes(6).toString("hex")}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(temporary, JSON.stringify(Object.fromEntries([...versions].slice(-MAX_VERSIONS))), {
          mode: 0o600,
        });
        await rename(temporary, file);
      } catch {
        await rm(temporary, { force: true }).catch(() => undefined);
      }
    },
  };
}

async function readVersions(file: string): Promise<Record<string, string>> {
  try {
    return CachedVersions.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return {};
  }
}
