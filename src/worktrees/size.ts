/** How much of the disk a folder has. */
import { lstat, readdir } from "node:fs/promises";
import { joinByteName } from "./byte-names.ts";

const MAX_CONCURRENT = 32;

/** Bytes that would be free without it: what another folder has too, by a hard link, is not. 0 where there is nothing. */
export async function measureDiskUsage(path: string): Promise<number> {
  const waiting: Buffer[] = [Buffer.from(path)];
  let bytes = 0;
  while (waiting.length > 0) {
    const some = waiting.splice(-MAX_CONCURRENT);
    await Promise.all(
      some.map(async (at) => {
        const found = await lstat(at).catch(() => undefined); // gone meanwhile
        if (found === undefined) return;
        if (found.isDirectory()) {
          const names = await readdir(at, { encoding: "latin1" }).catch(() => []);
          for (const name of names) waiting.push(joinByteName(at, name));
        } else if (found.nlink > 1) return;
        bytes += found.blocks * 512;
      }),
    );
  }
  return bytes;
}
