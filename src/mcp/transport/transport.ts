/** What a connection needs of the way to a server, whatever it is. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface Way extends AsyncDisposable {
  readonly transport: Transport;
  /** Resolves when nothing comes this way any more, with the reason if there is one to tell. */
  readonly lost: Promise<Error>;
  /** Called when something broke that may mean that the server is not there any more. */
  doubted?: (() => void) | undefined;
  /** Why it failed, where the way knows more than who used it. */
  explain(error: unknown): Error;
}

/** There is no use in trying again: the program is not there, or it ended by itself. */
export class Hopeless extends Error {
  readonly fix: string | undefined;

  constructor(message: string, options?: { cause?: unknown; fix?: string }) {
    super(message, options);
    this.name = "Hopeless";
    this.fix = options?.fix;
  }
}
