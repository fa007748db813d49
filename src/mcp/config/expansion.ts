/** Expands the variables in the declaration of one server. */
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { type DeclaredServer, configInvalidAt } from "../../domain/mcp-declared.ts";
import { expandVariables, MissingVariable } from "./variables.ts";

export interface ExpansionContext {
  /** The working directory of the session: the value of `${WORKSPACE}`, and the base of a relative `cwd`. */
  readonly cwd?: string | undefined;
  readonly env: EnvironmentVariables;
}

type Path = readonly (string | number)[];

/** All functions throw `config_invalid` with the file and the key. */
export interface Expansion {
  readonly text: (text: string, ...path: Path) => string;
  readonly texts: (list: readonly string[], ...path: Path) => string[];
  readonly record: (record: Readonly<Record<string, string>>, ...path: Path) => Record<string, string>;
  readonly wrong: (path: Path, why: string, cause?: unknown) => Error;
}

export function makeExpansion({ name, source, file }: DeclaredServer, { cwd, env }: ExpansionContext): Expansion {
  const root = source === ".mcp.json" ? "mcpServers" : "mcp";
  const known = cwd === undefined ? env : { ...env, WORKSPACE: cwd };
  const wrong: Expansion["wrong"] = (path, why, cause) => configInvalidAt(file, [root, name, ...path], why, cause);
  const text: Expansion["text"] = (text, ...path) => {
    try {
      return expandVariables(text, known);
    } catch (cause) {
      if (!(cause instanceof MissingVariable)) throw cause;
      throw wrong(path, cause.message, cause);
    }
  };
  return {
    wrong,
    text,
    texts: (list, ...path) => list.map((item, index) => text(item, ...path, index)),
    record: (record, ...path) =>
      Object.fromEntries(Object.entries(record).map(([key, value]) => [key, text(value, ...path, key)])),
  };
}
