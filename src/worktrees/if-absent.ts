/** Distinguishes a missing file from one that cannot be read. Treating an unreadable file as missing loses data. */

/** Resolves with `instead` if the file or folder does not exist. Rejects with every other error. */
export async function ifAbsent<T, U>(work: Promise<T>, instead: U): Promise<T | U> {
  return work.catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return instead;
    throw error;
  });
}
