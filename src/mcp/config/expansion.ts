/** Fills in the variables of one declared server, and says where one is missing. */
import type { EnvironmentVariables } from "../../stdx/index.ts";
import { type DeclaredServer, invalid } from "../../domain/mcp-declared.ts";
import { expandVariables, MissingVariable } from "./variables.ts";

export interface Place {
  /** The session's working folder: `${WORKSPACE}`, and what a relative `cwd` is relative to. */
  readonly cwd?: string | undefined;
  readonly env: EnvironmentVariables;
}

type Path = readonly (string | number)[];

/** What it throws is `config_invalid`, and names the file and the key. */
export interface Expansion {
  readonly text: (text: string, ...path: Path) => string;
  readonly texts: (list: readonly string[], ...path: Path) => string[];
  readonly record: (record: Readonly<Record<string, string>>, ...path: Path) => Record<string, string>;
  readonly wrong: (path: Path, why: string, cause?: unknown) => Error;
}

export function expansion({ name, source, file }: DeclaredServer, { cwd, env }: Place): Expansion {
  const root = source === ".mcp.json" ? "mcpServers" : "mcp";
  const known = cwd === undefined ? env : { ...env, WORKSPACE: cwd };
  const wrong: Expansion["wrong"] = (path, why, cause) => invalid(file, [root, name, ...path], why, cause);
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
