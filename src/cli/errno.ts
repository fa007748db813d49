/** What the system's error codes mean, for those that people meet. */
import { messageOf } from "../domain/errors.ts";

const ERRNO_TEXT = new Map([
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
export function describeErrno(error: unknown): string | undefined {
  return ERRNO_TEXT.get(String((error as NodeJS.ErrnoException | undefined)?.code));
}

/** For output that could not be written. */
export function formatOutputError(error: unknown): string {
  return `cannot write the output: ${describeErrno(error) ?? messageOf(error)}`;
}
