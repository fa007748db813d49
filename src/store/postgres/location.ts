/** Parses the URL of a PostgreSQL store. No message of this file contains the URL, because it may hold a password. */
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { messageOf, RookeryError } from "../../domain/index.ts";

export interface PostgresServer {
  /** A host name, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface PostgresLocation {
  /** A primary and its standbys, in the order in which they are tried. */
  readonly servers: readonly PostgresServer[];
  /** Whether servers that accept no writes are skipped. Default: true if there are several servers. */
  readonly isWritable: boolean;
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
const PARAMETERS = ["host", "target_session_attrs", "sslmode", "sslrootcert", "sslcert", "sslkey"];
const WRITABLE_ATTRIBUTES = ["read-write", "primary"];
const DEFAULT_PORT = 5432;

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/**
 * Parses `postgres://user:password@host:port/database?sslmode=…`, also with several servers: `host1:port1,host2:port2`. A
 * password in the URL wins over the argument. Throws `config_invalid`.
 */
export function parsePostgresUrl(text: string, password?: string): PostgresLocation {
  const urls = splitServers(text).map(toUrl);
  const [url = toUrl(text)] = urls;
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name)) throw invalid(`does not support the parameter "${name}": remove it`);
  }
  const user = decode(url.username, "user");
  if (user === "") throw invalid("names no user: write postgres://USER@HOST/DATABASE");
  const database = decode(url.pathname.slice(1), "database");
  if (database.includes("/")) throw invalid("names more than one database: write postgres://USER@HOST/DATABASE");
  const fromUrl = decode(url.password, "password");
  const servers = readServers(urls);
  return {
    servers,
    isWritable: readWritable(url.searchParams) ?? servers.length > 1,
    user,
    database: database === "" ? user : database,
    password: fromUrl === "" ? password : fromUrl,
    tls: readTls(url.searchParams),
  };
}

/** The servers and the database, for messages. */
export function describeLocation({ servers, database }: PostgresLocation): string {
  return `the database ${database} on ${servers.map(describeServer).join(" or ")}`;
}

function describeServer({ host, port }: PostgresServer): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** One URL per server, because `URL` accepts only one. */
function splitServers(text: string): string[] {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*,[^/?#@]*)(.*)$/is.exec(text);
  if (parts === null) return [text];
  const [, start, servers = "", end] = parts;
  return servers.split(",").map((server) => `${start}${server}${end}`);
}

/** The parameter `host` names folders of Unix sockets. */
function readServers(urls: readonly URL[]): PostgresServer[] {
  const ports = urls.map(({ port }) => (port === "" ? DEFAULT_PORT : Number(port)));
  const folders = urls[0]?.searchParams.get("host")?.split(",");
  if (folders !== undefined) {
    return folders.map((host, index) => ({ host, port: ports[index] ?? ports[0] ?? DEFAULT_PORT }));
  }
  return urls.map(({ hostname }, index) => ({
    host: hostname === "" ? "localhost" : hostname.replace(/^\[|\]$/g, ""),
    port: ports[index] ?? DEFAULT_PORT,
  }));
}

/** Undefined if the URL does not say. */
function readWritable(parameters: URLSearchParams): boolean | undefined {
  const attributes = parameters.get("target_session_attrs");
  if (attributes === null) return undefined;
  if (attributes !== "any" && !WRITABLE_ATTRIBUTES.includes(attributes)) {
    throw invalid(
      `has a target_session_attrs that Rookery cannot use: use one of any, ${WRITABLE_ATTRIBUTES.join(", ")}`,
    );
  }
  return attributes !== "any";
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
  const tls = readTlsFiles(parameters);
  const { cert, key } = tls;
  if (cert === undefined && key === undefined) return tls;
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw invalid(
      `names files whose sslcert and sslkey do not belong together (${messageOf(cause)}): correct the paths`,
    );
  }
  return tls;
}

function readTlsFiles(parameters: URLSearchParams): PostgresTls {
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
  const text = readPemFile(file, name);
  if (!text.includes("-----BEGIN ")) {
    const content = name === "sslkey" ? "key" : "certificate";
    throw invalid(`names a file with ${name} that has no ${content} in PEM format: correct the path`);
  }
  return text;
}

function readPemFile(file: string, name: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw invalid(`names a file with ${name} that cannot be read (${messageOf(cause)}): correct the path`);
  }
}

function invalid(problem: string): RookeryError {
  return new RookeryError("config_invalid", `the URL of the store ${problem}`);
}
