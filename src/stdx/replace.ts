/** Replaces a confined file whole or not at all: a full disk or a crash leaves what was there. */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PathRefusal, confined, openPlain } from "./confine.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Another hard link to the file keeps the old text. */
export async function replaceConfined(folders: readonly string[], path: string, content: string): Promise<void> {
  const real = await confined(folders, path);
  await mkdir(dirname(real), { recursive: true });
  await confinedStill(folders, path, real);
  const original = await writableAt(real);
  const temporary = join(dirname(real), `.rookery-${randomBytes(6).toString("hex")}.tmp`);
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, original?.mode ?? 0o666);
  try {
    try {
      if (original !== undefined) {
        await file.chown(original.uid, original.gid).catch(() => undefined); // only root may give a file away
        await file.chmod(original.mode & 0o777); // the umask took its part when it was opened
      }
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await confinedStill(folders, path, real);
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A parent that became a link meanwhile is noticed before anything is written through it. */
async function confinedStill(folders: readonly string[], path: string, real: string): Promise<void> {
  if ((await confined(folders, path)) !== real) throw new PathRefusal(`${path} was moved meanwhile; look again`);
}

/**
 * What stands there, if anything. It is opened for writing although nothing is written to it: a folder and a FIFO are
 * refused so, and a file that we may not write, whose protection a rename would go around.
 */
async function writableAt(path: string): Promise<Stats | undefined> {
  try {
    const file = await openPlain(path, O_WRONLY);
    try {
      return await file.stat();
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
