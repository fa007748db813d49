/** A layer of the configuration: one file. */
import type { ConfigTable } from "./schema.ts";

/** A configuration file, with the texts of the prompts that it names. */
export interface ConfigLayer {
  readonly file: string;
  readonly table: ConfigTable;
  readonly prompts: ReadonlyMap<string, string>;
}

/** Returns the first value that is defined. */
export function firstDefined<From, Value>(
  list: readonly From[],
  pick: (from: From) => Value | undefined,
): Value | undefined {
  for (const from of list) {
    const value = pick(from);
    if (value !== undefined) return value;
  }
  return undefined;
}
