/** Lists the names in the configuration, and the keys that it can have, for completion. */
import { KNOWN_MODELS } from "../../backends/model-keys.ts";
import { loadConfig } from "../../config/load.ts";
import { ConfigTable } from "../../config/schema.ts";
import type { Io } from "../io.ts";
import type { CompletionCandidate } from "./candidate.ts";

/** Leaves out what an untrusted repository configures. Rejects with `config_invalid`. */
export async function configuredCandidates(
  io: Io,
  kind: "agents" | "models" | "servers" | "pipelines" | "keys",
  typed: string,
): Promise<readonly CompletionCandidate[]> {
  if (kind === "keys" && !typed.startsWith("agents.")) return tableKeys();
  const config = await loadConfig({ cwd: io.cwd(), env: io.env, trust: "leave_out" });
  switch (kind) {
    case "agents":
      return Array.from(config.agents.values(), ({ name, backend, model }) => ({
        word: name,
        summary: model ?? backend,
      }));
    case "models": {
      const configured = [...config.agents.values()].flatMap(({ model }) => model ?? []);
      const names = new Set([...configured, ...config.prices.keys(), ...KNOWN_MODELS]);
      return Array.from(names, (word) => ({ word }));
    }
    case "servers":
      return Array.from(config.mcp.keys(), (word) => ({ word }));
    case "pipelines":
      return Array.from(config.pipelines, ([word, stages]) => ({ word, summary: `${stages.length} stages` }));
    case "keys": {
      const keys = Object.keys(ConfigTable.shape.agents.unwrap().valueType.shape);
      return [...config.agents.keys()].flatMap((name) => keys.map((key) => ({ word: `agents.${name}.${key}` })));
    }
  }
}

/** The keys of tables with fixed keys. Those of an agent are listed once `agents.` is typed. */
function tableKeys(): CompletionCandidate[] {
  const { defaults, tools, worktree, merge, limits } = ConfigTable.shape;
  const tables = { defaults, tools, worktree, merge, limits };
  return Object.entries(tables).flatMap(([table, schema]) =>
    Object.keys(schema.unwrap().shape).map((key) => ({ word: `${table}.${key}` })),
  );
}
