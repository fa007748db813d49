/** One of the files that a configuration is put together from. */
import type { ConfigTable } from "./schema.ts";

/** With the texts of the prompts that it names. */
export interface ConfigLayer {
  readonly file: string;
  readonly table: ConfigTable;
  readonly prompts: ReadonlyMap<string, string>;
}

/** What the first that says something says. */
export function firstDefined<From, Value>(list: readonly From[], pick: (from: From) => Value | undefined): Value | undefined {
  for (const from of list) {
    const value = pick(from);
    if (value !== undefined) return value;
  }
  return undefined;
}
