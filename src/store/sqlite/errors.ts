/** What SQLite and the file system say, in words that a person can act on: the only place that knows their codes. */
import { messageOf, RookeryError, type ErrorCode } from "../../domain/index.ts";

/** An error of the database at `path` as a RookeryError; what is one already stays as it is. */
export function storeError(cause: unknown, path: string): RookeryError {
  if (cause instanceof RookeryError) return cause;
  const code = codeOf(cause);
  const { store, say } = MEANINGS.find(({ codes }) => codes.test(code)) ?? OTHER;
  return new RookeryError(store, `${say(path)} (${code === "" ? messageOf(cause) : `${code}: ${messageOf(cause)}`})`, {
    cause,
  });
}

/** SQLite reads an event's JSON before it inserts it in bulk, and gives up where it nests deeper than 1,000. */
export function isMalformedJson(error: unknown): boolean {
  return error instanceof RookeryError && error.cause instanceof Error && error.cause.message === "malformed JSON";
}

interface Meaning {
  readonly codes: RegExp;
  readonly store: ErrorCode;
  readonly say: (path: string) => string;
}

const MEANINGS: readonly Meaning[] = [
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    store: "store_locked",
    say: (path) => `${path} is locked by another process: wait for it to finish, or end it`,
  },
  {
    codes: /^(SQLITE_READONLY|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM|EROFS)/,
    store: "store_readonly",
    say: (path) => `${path} cannot be written: give yourself write access to it and to its folder`,
  },
  {
    codes: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    store: "store_full",
    say: (path) => `no space left to write ${path}: free some, then try again; nothing that was saved is lost`,
  },
  {
    codes: /^SQLITE_(CORRUPT|NOTADB)/,
    store: "store_corrupt",
    say: (path) =>
      `${path} is damaged or is not a Rookery store: try rookery doctor --repair, restore a copy, or move it away to start afresh`,
  },
  {
    codes: /^(SQLITE_CANTOPEN|ENOENT|ENOTDIR|EISDIR|ELOOP|ENAMETOOLONG)/,
    store: "store_unavailable",
    say: (path) => `${path} cannot be opened: check that its folder exists and that it is a file`,
  },
  {
    codes: /^SQLITE_TOOBIG/,
    store: "input_too_large",
    say: (path) => `that is more than ${path} can keep in one piece: make it smaller`,
  },
];

const OTHER: Meaning = {
  codes: /^/,
  store: "store_unavailable",
  say: (path) => `${path} could not be used: check the disk it is on, then try again`,
};

/** libsql 0.5.29 gives no code where the file could not be opened at all, but ends its message with SQLite's number. */
function codeOf(cause: unknown): string {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : "";
  if (typeof code === "string" && code !== "") return code;
  return /^ConnectionFailed\(.*: 14"\)$/s.test(messageOf(cause)) ? "SQLITE_CANTOPEN" : "";
}
