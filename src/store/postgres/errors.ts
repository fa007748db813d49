/** Converts errors of PostgreSQL and of its connections to store errors with a fix. No other file knows their codes. */
import { messageOf, RookeryError, type ErrorCode } from "../../domain/index.ts";

/** Converts an error. `where` names the database. Returns a RookeryError unchanged. */
export function toPostgresError(cause: unknown, where: string): RookeryError {
  if (cause instanceof RookeryError) return cause;
  const code = readSqlState(cause);
  const { store, describe } = MAPPINGS.find(({ matches }) => matches(code, cause)) ?? DEFAULT_MAPPING;
  const detail = code === "" ? messageOf(cause) : `${code}: ${messageOf(cause)}`;
  return new RookeryError(store, `${describe(where)} (${detail})`, { cause });
}

/** Whether the connection is lost or was never made. A statement that was sent may have been committed. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof RookeryError) return false;
  const code = readSqlState(error);
  return LOST_CODES.test(code) || LOST_MESSAGES.test(messageOf(error));
}

/** The server is a standby, or was made read-only. The statement changed nothing. */
export function isReadOnlyServer(error: unknown): boolean {
  return readSqlState(error) === "25006";
}

/** Another writer changed what the statement depends on. The statement changed nothing, and can be built again. */
export function isStaleWrite(error: unknown): boolean {
  return /^(RK001|23505|40P01|40001)$/.test(readSqlState(error));
}

/** A table or function is missing. */
export function isMissingObject(error: unknown): boolean {
  return MISSING_CODES.test(readSqlState(error));
}

const MISSING_CODES = /^(42P01|3F000|42883|42703)$/;

export function newerSchema(where: string, version: number, known: number): RookeryError {
  return new RookeryError(
    "store_newer",
    `${where} has schema version ${version} and this program supports up to ${known}: update rookery`,
  );
}

/** Another transaction held a lock for too long. The statement changed nothing. */
export function isLockTimeout(error: unknown): boolean {
  return LOCK_CODES.test(readSqlState(error));
}

const LOCK_CODES = /^(55P03|57014)$/;

/** The error code with which the functions of the schema report that they were called with stale facts. */
export const STALE_CODE = "RK001";

/** The server supports no TLS. */
export function isTlsUnsupported(error: unknown): boolean {
  return messageOf(error) === "The server does not support SSL connections";
}

/** The error of a server that accepts no writes, if another one may. */
export function noWritableServer(): Error {
  return Object.assign(new Error("the server accepts no writes"), { code: "RK002" });
}

/** A pooler refuses the settings with which a connection starts. */
export function isSettingRefused(error: unknown): boolean {
  return readSqlState(error) === "08P01" && /startup parameter/.test(messageOf(error));
}

/** The error of a pooler that passes no settings on, to a server that lacks this one. */
export function wrongPoolSetting(setting: string): Error {
  return Object.assign(new Error(setting), { code: "RK003" });
}

/** Includes errors on intact connections: after a failover, only a new connection finds the primary. */
const LOST_CODES =
  /^(RK002|25006|08(?!P01)...|57P0[1-5]|25P03|53300|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
/** Errors of `pg` 8.23.1 that have no code. */
const LOST_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired)/;

interface Mapping {
  readonly matches: (code: string, cause: unknown) => boolean;
  readonly store: ErrorCode;
  readonly describe: (where: string) => string;
}

const MAPPINGS: readonly Mapping[] = [
  {
    matches: (code, cause) => code === "28000" && /client certificate/.test(messageOf(cause)),
    store: "store_unavailable",
    describe: (where) => `${where} asks for a client certificate: set sslcert and sslkey in the URL`,
  },
  mapping(/^28/, "store_unavailable", (where) => `${where} rejected the user or the password: correct them`),
  {
    matches: (_, cause) => /^SASL: .*password must be/.test(messageOf(cause)),
    store: "store_unavailable",
    describe: (where) => `${where} asks for a password: set ROOKERY_STORE_PASSWORD or [store] password_file`,
  },
  mapping(/^3D000$/, "store_unavailable", (where) => `${where} does not exist: create it, or correct the URL`),
  mapping(
    /^53300$/,
    "store_unavailable",
    (where) =>
      `${where} accepts no more connections: raise max_connections or the connection limit of the user, or run fewer processes`,
  ),
  {
    matches: (code) => code === "RK003",
    store: "store_unavailable",
    describe: (where) => `${where} is behind a connection pool, so its user needs this setting with ALTER ROLE … SET`,
  },
  mapping(/^RK002$/, "store_unavailable", (where) => `no server of ${where} accepts writes: promote a standby`),
  mapping(/^42501$/, "store_readonly", (where) => `${where} is not writable for this user: grant it access`),
  mapping(
    /^25006$/,
    "store_readonly",
    (where) => `${where} accepts no writes: connect to the primary, or end the read-only mode`,
  ),
  mapping(/^53100$/, "store_full", (where) => `no disk space left for ${where}: free some; saved data is intact`),
  mapping(LOCK_CODES, "store_locked", (where) => `${where} is locked by another transaction: try again`),
  mapping(MISSING_CODES, "store_corrupt", (where) => `a table is missing in ${where}: restore a backup`),
  mapping(/^XX00[12]$/, "store_corrupt", (where) => `${where} is damaged: restore a backup`),
  mapping(/^(54000|53200)$/, "input_too_large", (where) => `the data exceeds a limit of ${where}: make it smaller`),
  mapping(/^08P01$/, "store_unavailable", (where) => `${where} refused the connection: connect to the server directly`),
  mapping(
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "store_unavailable",
    (where) => `the certificate of ${where} is for another host name: correct the host in the URL, or the certificate`,
  ),
  mapping(
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    "store_unavailable",
    (where) => `the certificate of ${where} has expired: renew it, and check the clocks`,
  ),
  mapping(
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_UNTRUSTED)$/,
    "store_unavailable",
    (where) =>
      `the certificate of ${where} is signed by an authority that is not known here: set sslrootcert in the URL to its file`,
  ),
  {
    matches: (_, cause) => isTlsUnsupported(cause),
    store: "store_unavailable",
    describe: (where) => `${where} has no TLS: enable it on the server, or set sslmode=disable in the URL`,
  },
  mapping(
    /^(CERT_|ERR_TLS|ERR_SSL|ERR_OSSL)/,
    "store_unavailable",
    (where) => `no TLS connection to ${where}: check the certificates and sslmode, sslrootcert, sslcert and sslkey`,
  ),
];

const DEFAULT_MAPPING: Mapping = mapping(
  /^/,
  "store_unavailable",
  (where) => `cannot reach ${where}: check that the server runs and that the URL is correct`,
);

function mapping(codes: RegExp, store: ErrorCode, describe: Mapping["describe"]): Mapping {
  return { matches: (code) => codes.test(code), store, describe };
}

/** The SQLSTATE, or the error code of the socket. */
function readSqlState(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}
