/** What a repository brings that would run or steer something, read once so that what was trusted is what is used. */
import { join, relative } from "node:path";
import { parseMcpEntries, type EntryServer } from "../domain/mcp-declared.ts";
import { readPromptFile, readTextFile, type TextFile } from "./files.ts";
import { locateRepository, realFolder, type RepositoryLocation } from "./root.ts";
import type { ConfigTable } from "./schema.ts";
import type { FileHashes } from "./tree-hash.ts";

export interface RepositoryFiles extends RepositoryLocation {
  /** The working folder, as a real path. */
  readonly cwd: string;
  readonly config: { readonly file: string; readonly table: ConfigTable } | undefined;
  /** What `.mcp.json` lists. */
  readonly servers: ReadonlyMap<string, EntryServer>;
  /** By the name that the configuration gives them. */
  readonly prompts: ReadonlyMap<string, string>;
  /** All of it, by path relative to the root: what trust is about. What a program takes orders from is by that to the checkout. */
  readonly hashes: FileHashes;
}

/** Reading runs nothing. Rejects with `config_invalid`. */
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

/** Each name once, in the order of the file. */
export function listPromptNames(table: ConfigTable | undefined): Iterable<string> {
  return new Set(Object.values(table?.agents ?? {}).flatMap(({ prompts }) => prompts ?? []));
}

/** Loaded when there is something to parse: TOML and its schema are a tenth of the time that the command takes to start. */
export async function parseConfigFile(text: string, file: string): Promise<ConfigTable> {
  const { parseConfig } = await import("./parse.ts");
  return parseConfig(text, file);
}
