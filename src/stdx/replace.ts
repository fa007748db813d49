/** Replaces a confined file whole or not at all: a full disk or a crash leaves what was there. */
import { randomBytes } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { confined, openPlain } from "./confine.ts";
import { holdMade } from "./held-folder.ts";
import { PathRefusal } from "./path-refusal.ts";

export interface ReplaceOptions {
  /** What stood there when somebody looked, or null for nothing: where it is another by now, nothing is replaced. */
  readonly instead?: FileStamp | null | undefined;
}

/** Which file it was, and in which state. */
export type FileStamp = Pick<BigIntStats, "dev" | "ino" | "size" | "mtimeNs">;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Another hard link to the file keeps the old text. All is done in the folder that was found, held open: a folder that
 * becomes a link meanwhile is not followed.
 */
export async function replaceConfined(
  folders: readonly string[],
  path: string,
  content: string | Uint8Array,
  { instead }: ReplaceOptions = {},
): Promise<void> {
  const real = await confined(folders, path);
  const name = basename(real);
  await using folder = await holdMade(dirname(real));
  const original = await writableAt(real);
  const temporary = folder.at(`.rookery-${randomBytes(6).toString("hex")}.tmp`);
  const mode = original === undefined ? 0o666 : Number(original.mode);
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      if (original !== undefined) await likeBefore(file, original);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (instead !== undefined && !isSame(await writableAt(real), instead)) {
      throw new PathRefusal(`${path} was changed by someone else meanwhile; read it again`);
    }
    await rename(temporary, folder.at(name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function likeBefore(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  await file.chown(Number(uid), Number(gid)).catch(() => undefined); // only root may give a file away
  await file.chmod(Number(mode) & 0o777); // the umask took its part when it was opened
}

function isSame(now: FileStamp | undefined, before: FileStamp | null): boolean {
  if (now === undefined || before === null) return now === undefined && before === null;
  return (["dev", "ino", "size", "mtimeNs"] as const).every((key) => now[key] === before[key]);
}

/**
 * What stands there, if anything. It is opened for writing although nothing is written to it: a folder and a FIFO are
 * refused so, and a file that we may not write, whose protection a rename would go around.
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
