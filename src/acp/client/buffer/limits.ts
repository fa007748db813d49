/** How much of what an agent sends is kept for readers, in characters of the messages. */
import { RookeryError } from "../../../domain/errors.ts";

/** Above this the agent is made to wait for the reader of its turn. */
export const SOFT_LIMIT = 1024 * 1024;
/** Where it cannot be made to wait, because someone else waits for it too, the reading fails here. */
export const HARD_LIMIT = 64 * 1024 * 1024;
/** Outside of a turn nobody may ever read: the oldest go. */
export const BETWEEN_LIMIT = 1024 * 1024;
/** What may be left unread of turns that are over; the oldest turn goes first. */
export const FINISHED_TURNS_LIMIT = 8 * 1024 * 1024;

export function unreadLimitError(limit: number): RookeryError {
  const message = `more than ${limit / 1024 / 1024} MiB of updates were not read: read on, or give an \`update\` handler`;
  return new RookeryError("input_too_large", message);
}
