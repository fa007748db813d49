/**
 * Reads the files of a repository that can run or control something. Each is read once, so that the content that was
 * trusted is the content that is used.
 */
import { join, relative } from "node:path";
import { parseMcpEntries, type EntryServer } from "../domain/mcp-declared.ts";
import { readPromptFile, readTextFile, type TextFile } from "./files.ts";
import { locateRepository, realFolder, type RepositoryLocation } from "./root.ts";
import type { ConfigTable } from "./schema.ts";
import type { FileHashes } from "./tree-hash.ts";

export interface RepositoryFiles extends RepositoryLocation {
  /** The working directory, as a real path. */
  readonly cwd: string;
  readonly config: { readonly file: string; readonly table: ConfigTable } | undefined;
  /** The servers of `.mcp.json`. */
  readonly servers: ReadonlyMap<string, EntryServer>;
  /** Prompt texts, by the name in the configuration. */
  readonly prompts: ReadonlyMap<string, string>;
  /**
   * The hashes that trust is based on, by path relative to the root. Files that a program obeys are relative to the
   * checkout.
   */
  readonly hashes: FileHashes;
}

/** Runs nothing from the repository. Rejects with `config_invalid`. */
export async function readRepositoryFiles(cwd: string): Promise<RepositoryFiles> {
  const { root, checkout } = await locateRepository(cwd);
  const file = join(root, "rookery.toml");
  const toml = await readTextFile(file);
  const json = await readTextFile(join(root, ".mcp.json"));
  const servers = json === undefined ? undefined : parseMcpEntries(json.text, json.path);
  const table = toml === undefined ? undefined : await parseConfigFile(toml.text, file);
  const prompts = new Map<string, TextFile>();
  for (const named of listPromptNames(table)) prompts.set(named, await readPromptFile(named, file, root));

  const files = [toml, json, ...prompts.values()].filter((read) => read !== undefined);
  return {
    root,
    checkout,
    config: table === undefined ? undefined : { file, table },
    servers: servers ?? new Map(),
    prompts: new Map(Array.from(prompts, ([named, { text }]) => [named, text])),
    cwd: await realFolder(cwd),
    hashes: Object.fromEntries(files.map(({ path, hash }) => [relative(root, path), hash])),
  };
}

/** Each name once, in file order. */
export function listPromptNames(table: ConfigTable | undefined): Iterable<string> {
  return new Set(Object.values(table?.agents ?? {}).flatMap(({ prompts }) => prompts ?? []));
}

/** Loads the parser on demand: TOML and its schema are a tenth of the startup time of the command. */
export async function parseConfigFile(text: string, file: string): Promise<ConfigTable> {
  const { parseConfig } = await import("./parse.ts");
  return parseConfig(text, file);
}
