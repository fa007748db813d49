/** The error of a failed provider request, with advice about retrying. */
import { RookeryError, type ErrorCode } from "./errors.ts";

export interface ProviderErrorOptions {
  readonly cause?: unknown;
  /** Present if a retry may help. `afterMs` is the delay that the provider asked for. */
  readonly retry?: { readonly afterMs?: number | undefined } | undefined;
  /** Present if the account has reached a limit. `resetsAt` (ISO 8601) is known for some providers. */
  readonly limit?: { readonly resetsAt?: string | undefined } | undefined;
}

export class ProviderError extends RookeryError {
  readonly retry: ProviderErrorOptions["retry"];
  readonly limit: ProviderErrorOptions["limit"];

  constructor(code: ErrorCode, message: string, { cause, retry, limit }: ProviderErrorOptions = {}) {
    super(code, message, { cause });
    this.retry = retry;
    this.limit = limit;
  }
}
