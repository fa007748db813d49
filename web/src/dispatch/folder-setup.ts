/** What a folder offers to a task: its agents and pipelines, and the repository that it belongs to. */
import type { components, RookeryClient } from "../../../src/client/index.ts";
import { dataOf } from "../request.ts";

export interface FolderSetup {
  /** The path of the repository. */
  readonly root: string;
  readonly agents: readonly components["schemas"]["Agent"][];
  readonly pipelines: readonly string[];
}

/** `folder` is empty for the folder in which the server was started. */
export async function readFolderSetup(client: RookeryClient, folder: string): Promise<FolderSetup> {
  const params = { query: folder === "" ? {} : { cwd: folder } };
  const [{ agents }, { root, values }] = await Promise.all([
    dataOf(client.GET("/v1/agents", { params })),
    dataOf(client.GET("/v1/config", { params })),
  ]);
  return { root, agents, pipelines: listPipelines(values) };
}

interface ConfigValue {
  readonly key: string;
  readonly applies: boolean;
}

/** The names in keys such as `pipelines.reviewed.stages`. Names with other characters are quoted as in TOML. */
export function listPipelines(values: readonly ConfigValue[]): readonly string[] {
  const names = values.flatMap(({ key, applies }) => {
    const [, quoted, plain] = /^pipelines\.(?:("(?:[^"\\]|\\.)*")|([^.]+))/.exec(key) ?? [];
    const name = quoted === undefined ? plain : (JSON.parse(quoted) as string);
    return applies && name !== undefined ? [name] : [];
  });
  return [...new Set(names)];
}
