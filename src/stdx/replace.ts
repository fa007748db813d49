/** Replaces a confined file atomically: a full disk or a crash leaves the old content. */
import { randomBytes } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { confined, openPlain } from "./confine.ts";
import { holdOrMakeFolder } from "./held-folder.ts";
import { PathRefusal } from "./path-refusal.ts";

export interface ReplaceOptions {
  /** The file that the caller has read, or null if there was none. A `PathRefusal` is thrown if it has changed since. */
  readonly instead?: FileStamp | null | undefined;
}

/** Identifies a file and its state. */
export type FileStamp = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs">;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes `content` to a temporary file and renames it over the path. Other hard links to the file keep the old content.
 * The folder is held open: if it is replaced by a symlink meanwhile, the symlink is not followed.
 */
export async function replaceConfined(
  folders: readonly string[],
  path: string,
  content: string | Uint8Array,
  { instead }: ReplaceOptions = {},
): Promise<void> {
  const real = await confined(folders, path);
  const name = basename(real);
  await using folder = await holdOrMakeFolder(dirname(real));
  const original = await writableAt(real);
  const temporary = folder.at(`.rookery-${randomBytes(6).toString("hex")}.tmp`);
  const mode = original === undefined ? 0o666 : Number(original.mode);
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      if (original !== undefined) await copyOwnerAndMode(file, original);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (instead !== undefined && !isSame(await writableAt(real), instead)) {
      throw new PathRefusal(`${path} has changed since it was read; read it again`);
    }
    await rename(temporary, folder.at(name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function copyOwnerAndMode(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  await file.chown(Number(uid), Number(gid)).catch(() => undefined); // only root may change the owner
  await file.chmod(Number(mode) & 0o777); // the umask applied when the file was created
}

function isSame(now: FileStamp | undefined, before: FileStamp | null): boolean {
  if (now === undefined || before === null) return now === undefined && before === null;
  return (["dev", "ino", "size", "mtimeNs"] as const).every((key) => now[key] === before[key]);
}

/**
 * The status of the file, or undefined if there is none. Opens it for writing, without writing, so that a folder, a FIFO
 * and a file without write permission are refused: a rename would bypass that permission.
 */
async function writableAt(path: string): Promise<BigIntStats | undefined> {
  try {
    const file = await openPlain(path, O_WRONLY);
    try {
      return await file.stat({ bigint: true });
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
