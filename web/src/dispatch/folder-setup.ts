/** Reads what a folder offers to a task: its agents and pipelines, and the repository that it belongs to. */
import type { components, RookeryClient } from "../../../src/client/index.ts";
import { PERMISSION_POLICIES } from "../../../src/domain/enums.ts";
import { dataOf } from "../request.ts";

export interface FolderSetup {
  /** The path of the repository. */
  readonly root: string;
  readonly agents: readonly components["schemas"]["Agent"][];
  readonly pipelines: readonly string[];
  /** The permissions by agent. Agents that are not listed have `ask`. */
  readonly permissions: ReadonlyMap<string, PermissionPolicy>;
}

type PermissionPolicy = (typeof PERMISSION_POLICIES)[number];

/** `folder` is empty for the folder in which the server was started. */
export async function readFolderSetup(client: RookeryClient, folder: string): Promise<FolderSetup> {
  const params = { query: folder === "" ? {} : { cwd: folder } };
  const [{ agents }, { root, values }] = await Promise.all([
    dataOf(client.GET("/v1/agents", { params })),
    dataOf(client.GET("/v1/config", { params })),
  ]);
  return { root, agents, pipelines: listPipelines(values), permissions: listPermissions(values) };
}

/** The command that a merge must pass, as the repository is configured. Undefined if there is none. */
export async function readConfiguredGate(client: RookeryClient, repository: string): Promise<string | undefined> {
  const { values } = await dataOf(client.GET("/v1/config", { params: { query: { cwd: repository } } }));
  const gate = values.find(({ key, applies }) => key === "merge.gate" && applies)?.value;
  return typeof gate === "string" ? gate : undefined;
}

interface ConfigValue {
  readonly key: string;
  readonly value?: unknown;
  readonly applies: boolean;
}

export function listPipelines(values: readonly ConfigValue[]): readonly string[] {
  return [
    ...new Set(values.filter(({ applies }) => applies).flatMap(({ key }) => parseKey(key, "pipelines")?.name ?? [])),
  ];
}

export function listPermissions(values: readonly ConfigValue[]): ReadonlyMap<string, PermissionPolicy> {
  const found = values.flatMap(({ key, value, applies }) => {
    const parsed = parseKey(key, "agents");
    const policy = PERMISSION_POLICIES.find((each) => each === value);
    return applies && parsed?.rest === ".permissions" && policy !== undefined ? [[parsed.name, policy] as const] : [];
  });
  return new Map(found);
}

/** Splits keys such as `pipelines.reviewed.stages`. Names with other characters are quoted as in TOML. */
function parseKey(key: string, table: string): { readonly name: string; readonly rest: string } | undefined {
  if (!key.startsWith(`${table}.`)) return undefined;
  const [, quoted, plain, rest = ""] = /^(?:("(?:[^"\\]|\\.)*")|([^.]+))(.*)$/.exec(key.slice(table.length + 1)) ?? [];
  const name = quoted === undefined ? plain : (JSON.parse(quoted) as string);
  return name === undefined ? undefined : { name, rest };
}
