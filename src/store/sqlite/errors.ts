/** Converts errors of SQLite and of the file system to store errors with a fix. No other file knows their codes. */
import { messageOf, RookeryError, type ErrorCode } from "../../domain/index.ts";

/** Converts an error of the database at `path`. Returns a RookeryError unchanged. */
export function toStoreError(cause: unknown, path: string): RookeryError {
  if (cause instanceof RookeryError) return cause;
  const code = readErrorCode(cause);
  const { store, describe } = ERROR_MAPPINGS.find(({ codes }) => codes.test(code)) ?? DEFAULT_MAPPING;
  return new RookeryError(
    store,
    `${describe(path)} (${code === "" ? messageOf(cause) : `${code}: ${messageOf(cause)}`})`,
    {
      cause,
    },
  );
}

/** SQLite parses JSON on a bulk insert and rejects nesting deeper than 1,000 levels. */
export function isMalformedJson(error: unknown): boolean {
  return error instanceof RookeryError && error.cause instanceof Error && error.cause.message === "malformed JSON";
}

interface ErrorMapping {
  readonly codes: RegExp;
  readonly store: ErrorCode;
  readonly describe: (path: string) => string;
}

const ERROR_MAPPINGS: readonly ErrorMapping[] = [
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    store: "store_locked",
    describe: (path) => `${path} is locked by another process: wait for it to finish, or stop it`,
  },
  {
    codes: /^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM|EROFS)/,
    store: "store_readonly",
    describe: (path) => `${path} is not writable: give yourself write access to the file and its folder`,
  },
  {
    codes: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    store: "store_full",
    describe: (path) => `no disk space left for ${path}: free some space, then try again; saved data is intact`,
  },
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)/,
    store: "store_corrupt",
    describe: (path) =>
      `${path} is damaged or is not a Rookery store: run rookery doctor --repair, restore a backup, or move the file away to start with an empty store`,
  },
  {
    codes: /^(SQLITE_CANTOPEN|ENOENT|ENOTDIR|EISDIR|ELOOP|ENAMETOOLONG)/,
    store: "store_unavailable",
    describe: (path) => `cannot open ${path}: check that its folder exists and that it is a regular file`,
  },
  {
    codes: /^SQLITE_TOOBIG/,
    store: "input_too_large",
    describe: (path) => `the data exceeds the size limit of ${path}: make it smaller`,
  },
];

const DEFAULT_MAPPING: ErrorMapping = {
  codes: /^/,
  store: "store_unavailable",
  describe: (path) => `cannot use ${path}: check the disk, then try again`,
};

/** If the file cannot be opened, libsql 0.5.29 sets no code, but its message ends with SQLite's error number. */
function readErrorCode(cause: unknown): string {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : "";
  if (typeof code === "string" && code !== "") return code;
  return /^ConnectionFailed\(.*: 14"\)$/s.test(messageOf(cause)) ? "SQLITE_CANTOPEN" : "";
}
