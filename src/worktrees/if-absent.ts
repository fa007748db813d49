/** What is not there is told from what cannot be read: taking one for the other has cost people their files. */

/** `instead` where there is no such file or folder; every other failure stays one. */
export async function ifAbsent<T, U>(work: Promise<T>, instead: U): Promise<T | U> {
  return work.catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return instead;
    throw error;
  });
}
