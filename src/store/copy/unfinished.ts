/** Marks the target of a copy until the copy is verified, so that no program uses it as a complete store. */
import { RookeryError } from "../../domain/errors.ts";

/** The schema version of an unfinished copy. Programs that do not know it refuse it as a newer schema. */
export const UNFINISHED_VERSION = 1_000_000_000;

export function toUnfinishedError(where: string): RookeryError {
  const fix = "copy again with `rookery store copy FROM TO --restart`, or delete it";
  return new RookeryError("store_unavailable", `${where} is an unfinished copy of another store: ${fix}`);
}
