/** Describes the configuration of a folder as its files set it: each value, its file, and whether it applies. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { maskValue } from "../domain/mask-secrets.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { parseConfigFile, readRepositoryFiles } from "./repository-files.ts";
import { evaluateTrust, type TrustState } from "./trust.ts";

export type ConfigScope = "repository" | ".mcp.json" | "user";

export interface ConfigDescription {
  readonly root: string;
  readonly trust: TrustState["status"];
  /** Earlier files override later ones. */
  readonly files: readonly { readonly file: string; readonly scope: ConfigScope; readonly exists: boolean }[];
  readonly values: readonly DescribedValue[];
}

export interface DescribedValue {
  /** The path of the value, as in `rookery config get`. */
  readonly key: string;
  /** Secrets are masked. */
  readonly value: unknown;
  readonly file: string;
  readonly scope: ConfigScope;
  /** False if another file overrides it, or the repository is not trusted. */
  readonly applies: boolean;
}

interface DescribedFile {
  readonly file: string;
  readonly scope: ConfigScope;
  readonly table: object;
}

/** Runs nothing, and reads untrusted files only to show them. Rejects with `config_invalid` or `cwd_missing`. */
export async function describeConfig(cwd: string, env: EnvironmentVariables): Promise<ConfigDescription> {
  const brought = await readRepositoryFiles(cwd);
  const { root, config, servers } = brought;
  const { status } = await evaluateTrust(brought, env);
  const user = { file: userConfigFile(env), scope: "user" as const };
  const userText = await readTextFile(user.file);
  const repository = { file: join(root, "rookery.toml"), scope: "repository" as const };
  const entries = { file: join(root, ".mcp.json"), scope: ".mcp.json" as const };
  const mcp = Object.fromEntries(Array.from(servers, ([name, { entry }]) => [name, entry]));
  const read: DescribedFile[] = [
    { ...repository, table: config?.table ?? {} },
    { ...entries, table: servers.size === 0 ? {} : { mcp } },
    { ...user, table: userText === undefined ? {} : await parseConfigFile(userText.text, user.file) },
  ];
  const files = [repository, entries, user].map((each) => ({ ...each, exists: existsSync(each.file) }));
  return { root, trust: status, files, values: describeValues(read, status === "untrusted") };
}

function describeValues(files: readonly DescribedFile[], isUntrusted: boolean): DescribedValue[] {
  const overridden = new Set<string>();
  const values = files.flatMap(({ file, scope, table }) =>
    listValues(table).map(({ path, value }): DescribedValue => {
      const key = path.map(quoteSegment).join(".");
      const isUsed = (scope === "user" || !isUntrusted) && !(scope !== "user" && isUserOnly(key));
      const applies = isUsed && !overridden.has(key);
      if (isUsed) overridden.add(key);
      return { key, value: maskValue(path.at(-1) ?? "", value), file, scope, applies };
    }),
  );
  return values.sort((one, other) => (one.key === other.key ? 0 : one.key < other.key ? -1 : 1));
}

/**
 * Settings that no repository may change: the limit of all repositories together, and where the log, its blobs and
 * telemetry go.
 */
function isUserOnly(key: string): boolean {
  return key === "defaults.max_running" || /^(store|blobs|telemetry)\./.test(key);
}

/**
 * How deep the files are merged. Deeper tables override each other as a whole: see `load.ts`, `agent.ts`, `servers.ts`.
 */
function mergeDepth([section, , key]: readonly string[]): number {
  if (section === "agents") return key === "tools" ? 4 : 3;
  return section === "providers" ? 3 : 2;
}

function listValues(value: unknown, path: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isTable || path.length >= mergeDepth(path)) return path.length === 0 ? [] : [{ path, value }];
  return Object.entries(value).flatMap(([name, inner]) =>
    inner === undefined ? [] : listValues(inner, [...path, name]),
  );
}

/** As in TOML. */
function quoteSegment(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}
