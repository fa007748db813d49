/** Loads a bundled file with V8's code cache, so that it is compiled once and not at each start. */
import { existsSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { makeFolder } from "../stdx/folder.ts";

export interface CachedFile {
  /** A function of `exports, require, module, __filename, __dirname`, in ASCII: see tsdown.config.ts. */
  readonly file: string;
  readonly require: NodeJS.Require;
  /** The cache is kept below it, if it exists. */
  readonly home: string | undefined;
  readonly name: string;
  /** What makes an older cache useless, beside the file itself. */
  readonly stamp: string;
}

/** Returns what the file exports. Without a cache, or with one that does not fit, it only takes longer. */
export function loadCached({ file, require, home, name, stamp }: CachedFile): unknown {
  const source = readFileSync(file, "latin1");
  const header = `${stamp} ${source.length} ${statSync(file).mtimeMs}`;
  const cacheFile = home === undefined ? undefined : join(home, "cache", `${name}.v8`);
  const cachedData = cacheFile === undefined ? undefined : readCache(cacheFile, header);
  const script = new Script(source, { filename: file, cachedData });
  if (
    home !== undefined &&
    cacheFile !== undefined &&
    (cachedData === undefined || script.cachedDataRejected === true)
  ) {
    process.once("exit", (code) => {
      if (code === 0 && existsSync(home)) writeCache(cacheFile, header, script.createCachedData());
    });
  }
  const module = { exports: {} };
  const run = script.runInThisContext() as (...scope: unknown[]) => void;
  run(module.exports, require, module, file, dirname(file));
  return module.exports;
}

/** V8 trusts its cache, so a damaged one must not reach it: the sum of its bytes stands in front. */
function readCache(file: string, header: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const end = bytes.indexOf("\n");
    const data = bytes.subarray(end + 1);
    return bytes.toString("latin1", 0, end) === `${header} ${crc32(data)}` ? data : undefined;
  } catch {
    return undefined; // none yet
  }
}

function writeCache(file: string, header: string, data: Buffer): void {
  const part = `${file}.${process.pid}`;
  try {
    makeFolder(dirname(file));
    writeFileSync(part, Buffer.concat([Buffer.from(`${header} ${crc32(data)}\n`, "latin1"), data]), { mode: 0o600 });
    renameSync(part, file); // whole or not at all
  } catch {
    removeIfExists(part); // a disk that is full or read-only makes starts slower, and nothing worse
  }
}

function removeIfExists(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // it never was, or nobody may remove it
  }
}
