/** A provider's failure, with what is worth doing about it. */
import { RookeryError, type ErrorCode } from "../domain/index.ts";

export interface Remedy {
  readonly cause?: unknown;
  /** Another try may help: after so long, where the provider said it. */
  readonly retry?: { readonly afterMs?: number | undefined } | undefined;
  /** The account may do no more for now: until then (ISO 8601), where it was said. */
  readonly limit?: { readonly resetsAt?: string | undefined } | undefined;
}

export class ProviderError extends RookeryError {
  readonly retry: Remedy["retry"];
  readonly limit: Remedy["limit"];

  constructor(code: ErrorCode, message: string, { cause, retry, limit }: Remedy = {}) {
    super(code, message, { cause });
    this.retry = retry;
    this.limit = limit;
  }
}
