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

/** Another writer changed what the statement depends on. The statement changed nothing, and can be built again. */
export function isStaleWrite(error: unknown): boolean {
  return /^(RK001|23505|40P01|40001)$/.test(readSqlState(error));
}

/** The error code with which the functions of the schema report that they were called with stale facts. */
export const STALE_CODE = "RK001";

/** The server supports no TLS. */
export function isTlsUnsupported(error: unknown): boolean {
  return messageOf(error) === "The server does not support SSL connections";
}

const LOST_CODES =
  /^(08...|57P0[1-5]|25P03|53300|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
/** Errors of `pg` 8.23.1 that have no code. */
const LOST_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired)/;

interface Mapping {
  readonly matches: (code: string, cause: unknown) => boolean;
  readonly store: ErrorCode;
  readonly describe: (where: string) => string;
}

const MAPPINGS: readonly Mapping[] = [
  mapping(/^28/, "store_unavailable", (where) => `${where} rejected the user or the password: correct them`),
  {
    matches: (_, cause) => /^SASL: .*password must be/.test(messageOf(cause)),
    store: "store_unavailable",
    describe: (where) => `${where} asks for a password: set ROOKERY_STORE_PASSWORD or [store] password_file`,
  },
  mapping(/^3D000$/, "store_unavailable", (where) => `${where} does not exist: create it, or correct the URL`),
  mapping(/^53300$/, "store_unavailable", (where) => `${where} accepts no more connections: raise max_connections`),
  mapping(/^(42501|25006)$/, "store_readonly", (where) => `${where} is not writable for this user: grant it access`),
  mapping(/^53100$/, "store_full", (where) => `no disk space left for ${where}: free some; saved data is intact`),
  mapping(/^(55P03|57014)$/, "store_locked", (where) => `${where} is locked by another transaction: try again`),
  mapping(/^(42P01|3F000|42883)$/, "store_corrupt", (where) => `a table is missing in ${where}: restore a backup`),
  mapping(/^XX00[12]$/, "store_corrupt", (where) => `${where} is damaged: restore a backup`),
  mapping(/^(54000|53200)$/, "input_too_large", (where) => `the data exceeds a limit of ${where}: make it smaller`),
  mapping(/^08P01$/, "store_unavailable", (where) => `${where} refused the connection: connect to the server directly`),
  {
    matches: (code, cause) => /^(CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|ERR_TLS)/.test(code) || isTlsUnsupported(cause),
    store: "store_unavailable",
    describe: (where) => `no trusted TLS connection to ${where}: check sslmode and sslrootcert in the URL`,
  },
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
