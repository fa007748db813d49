export interface PostgresCluster {
  /** For the user `postgres`, which needs no password. */
  readonly url: string;
  /** The path of the server's Unix socket. */
  readonly socket: string;
  start(): Promise<void>;
  /** Ends the server as a crash would. */
  crash(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export function postgresBinaries(): string | undefined;
export function startPostgresCluster(): Promise<PostgresCluster>;
