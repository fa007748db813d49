/** Limits for unread messages, in characters. */
import { RookeryError } from "../../../domain/errors.ts";

/** Above this limit the agent waits for the reader of its turn. */
export const SOFT_LIMIT = 1024 * 1024;
/** If the agent cannot wait, because someone else waits for it too, reading fails at this limit. */
export const HARD_LIMIT = 64 * 1024 * 1024;
/** Limit for updates outside of turns, which possibly nobody reads. The oldest are dropped. */
export const BETWEEN_LIMIT = 1024 * 1024;
/** Limit for unread items of finished turns. The oldest turn is dropped first. */
export const FINISHED_TURNS_LIMIT = 8 * 1024 * 1024;

export function unreadLimitError(limit: number): RookeryError {
  const message = `more than ${limit / 1024 / 1024} MiB of updates are unread: read them, or set an \`update\` handler`;
  return new RookeryError("input_too_large", message);
}
