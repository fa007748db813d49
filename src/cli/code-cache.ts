/** Loads a bundled file with V8's code cache, so that Node does not compile it at every start. */
import { existsSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { makeFolder } from "../stdx/folder.ts";

export interface CachedFile {
  /** An ASCII file with a function of `exports, require, module, __filename, __dirname`; see tsdown.config.ts. */
  readonly file: string;
  readonly require: NodeJS.Require;
  /** Folder for the cache. No cache is written if it does not exist. */
  readonly home: string | undefined;
  readonly name: string;
  /** Identifies the versions that the cache is valid for. */
  readonly stamp: string;
}

/** Returns the exports of the file. Without a valid cache it only takes longer. */
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

/** V8 does not validate its cache, so the file starts with a checksum. */
function readCache(file: string, header: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const end = bytes.indexOf("\n");
    const data = bytes.subarray(end + 1);
    return bytes.toString("latin1", 0, end) === `${header} ${crc32(data)}` ? data : undefined;
  } catch {
    return undefined; // no cache yet
  }
}

function writeCache(file: string, header: string, data: Buffer): void {
  const part = `${file}.${process.pid}`;
  try {
    makeFolder(dirname(file));
    writeFileSync(part, Buffer.concat([Buffer.from(`${header} ${crc32(data)}\n`, "latin1"), data]), { mode: 0o600 });
    renameSync(part, file); // atomic
  } catch {
    removeIfExists(part); // without a writable disk, starts are only slower
  }
}

function removeIfExists(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // it does not exist, or cannot be removed
  }
}
