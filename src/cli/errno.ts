/** What the system's error codes mean, for those that people meet. */
import { messageOf } from "../domain/errors.ts";

const WORDS = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EFBIG", "the file would be too large"],
  ["EIO", "the device does not work"],
  ["EMFILE", "too many open files"],
]);

/** Undefined where the error is not one of these. */
export function errnoWords(error: unknown): string | undefined {
  return WORDS.get(String((error as NodeJS.ErrnoException | undefined)?.code));
}

/** For output that could not be written. */
export function outputLost(error: unknown): string {
  return `cannot write the output: ${errnoWords(error) ?? messageOf(error)}`;
}
