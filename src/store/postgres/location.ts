/** Parses the URL of a PostgreSQL store. No message of this file contains the URL, because it may hold a password. */
import { readFileSync } from "node:fs";
import { messageOf, RookeryError } from "../../domain/index.ts";

export interface PostgresLocation {
  /** A host name, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | undefined;
  readonly tls: PostgresTls;
}

export interface PostgresTls {
  readonly mode: (typeof TLS_MODES)[number];
  /** PEM text. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** The modes of libpq, except `allow`. */
const TLS_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
const PARAMETERS = ["host", "sslmode", "sslrootcert", "sslcert", "sslkey"];
const DEFAULT_PORT = 5432;

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Parses `postgres://user:password@host:port/database?sslmode=…`. A password in the URL wins over the argument. Throws
 * `config_invalid`.
 */
export function parsePostgresUrl(text: string, password?: string): PostgresLocation {
  const url = toUrl(text);
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name)) throw invalid(`does not support the parameter "${name}": remove it`);
  }
  const user = decode(url.username, "user");
  if (user === "") throw invalid("names no user: write postgres://USER@HOST/DATABASE");
  const database = decode(url.pathname.slice(1), "database");
  if (database.includes("/")) throw invalid("names more than one database: write postgres://USER@HOST/DATABASE");
  const fromUrl = decode(url.password, "password");
  return {
    host: url.searchParams.get("host") ?? (url.hostname === "" ? "localhost" : url.hostname.replace(/^\[|\]$/g, "")),
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    user,
    database: database === "" ? user : database,
    password: fromUrl === "" ? password : fromUrl,
    tls: readTls(url.searchParams),
  };
}

/** The server and the database, for messages. */
export function describeLocation({ host, port, database }: PostgresLocation): string {
  const server = host.startsWith("/") ? host : host.includes(":") ? `[${host}]` : host;
  return `the database ${database} on ${server}:${port}`;
}

function toUrl(text: string): URL {
  const url = isPostgresUrl(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalid("is not a URL of PostgreSQL: write postgres://USER@HOST/DATABASE");
  return url;
}

function decode(part: string, what: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid(`has an invalid ${what}: encode special characters, for example % as %25`);
  }
}

function readTls(parameters: URLSearchParams): PostgresTls {
  const mode = TLS_MODES.find((known) => known === (parameters.get("sslmode") ?? "prefer"));
  if (mode === undefined) throw invalid(`has an unknown sslmode: use one of ${TLS_MODES.join(", ")}`);
  return {
    mode,
    ca: readPem(parameters, "sslrootcert"),
    cert: readPem(parameters, "sslcert"),
    key: readPem(parameters, "sslkey"),
  };
}

function readPem(parameters: URLSearchParams, name: string): string | undefined {
  const file = parameters.get(name);
  if (file === null) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw invalid(`names a file with ${name} that cannot be read (${messageOf(cause)}): correct the path`);
  }
}

function invalid(problem: string): RookeryError {
  return new RookeryError("config_invalid", `the URL of the store ${problem}`);
}
