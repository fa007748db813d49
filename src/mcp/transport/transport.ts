/** The connection to a server, independent of its type. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface ServerTransport extends AsyncDisposable {
  readonly transport: Transport;
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>;
  /** Called when a failure suggests that the server may be gone. */
  onSuspectedLoss?: (() => void) | undefined;
  /** Turns an error into one that says why the connection failed. */
  explain(error: unknown): Error;
}

/** A failure that a retry cannot fix: the program is missing or exits by itself. */
export class PermanentFailure extends Error {
  readonly fix: string | undefined;

  constructor(message: string, options?: { cause?: unknown; fix?: string }) {
    super(message, options);
    this.name = "Hopeless";
    this.fix = options?.fix;
  }
}
