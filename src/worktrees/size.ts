/** Measures the disk usage of a folder. */
import { lstat, readdir } from "node:fs/promises";
import { joinByteName } from "./byte-names.ts";

const MAX_CONCURRENT = 32;

/** Returns the bytes that removing the folder would free. Skips files with several hard links. 0 if the folder is missing. */
export async function measureDiskUsage(path: string): Promise<number> {
  const pending: Buffer[] = [Buffer.from(path)];
  let bytes = 0;
  while (pending.length > 0) {
    const some = pending.splice(-MAX_CONCURRENT);
    await Promise.all(
      some.map(async (at) => {
        const found = await lstat(at).catch(() => undefined); // deleted in the meantime
        if (found === undefined) return;
        if (found.isDirectory()) {
          const names = await readdir(at, { encoding: "latin1" }).catch(() => []);
          for (const name of names) pending.push(joinByteName(at, name));
        } else if (found.nlink > 1) return;
        bytes += found.blocks * 512;
      }),
    );
  }
  return bytes;
}
