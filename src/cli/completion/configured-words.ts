/** Lists the names in the configuration for completion. */
import { KNOWN_MODELS } from "../../backends/model-keys.ts";
import { loadConfig } from "../../config/load.ts";
import type { Io } from "../io.ts";
import type { CompletionCandidate } from "./words.ts";

/** Leaves out what an untrusted repository configures. Rejects with `config_invalid`. */
export async function configuredCandidates(
  io: Io,
  kind: "agents" | "models" | "servers" | "pipelines",
): Promise<readonly CompletionCandidate[]> {
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
  }
}
