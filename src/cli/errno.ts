/** Describes the common error codes of the operating system. */
import { messageOf } from "../domain/errors.ts";

const ERRNO_TEXT = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is exceeded"],
  ["EFBIG", "the file is too large"],
  ["EIO", "I/O error on the device"],
  ["EMFILE", "too many open files"],
]);

/** Undefined for other errors. */
export function describeErrno(error: unknown): string | undefined {
  return ERRNO_TEXT.get(String((error as NodeJS.ErrnoException | undefined)?.code));
}

/** Formats a failed write to stdout. */
export function formatOutputError(error: unknown): string {
  return `cannot write the output: ${describeErrno(error) ?? messageOf(error)}`;
}
