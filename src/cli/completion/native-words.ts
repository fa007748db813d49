/** Lists the sessions that programs keep for the current directory, for completion. */
import { listKeptSessions } from "../../backends/history/list.ts";
import { findAgentOfBackend, loadConfig } from "../../config/index.ts";
import type { Io } from "../io.ts";
import type { CompletionCandidate } from "./candidate.ts";

/** Rejects with `config_invalid`. */
export async function nativeCandidates(io: Io): Promise<readonly CompletionCandidate[]> {
  const { env } = io;
  const folder = io.cwd();
  const config = await loadConfig({ cwd: folder, env });
  const kept = await listKeptSessions({
    cwd: folder,
    environmentFor: (backend) => ({ ...env, ...config.agents.get(findAgentOfBackend(config, backend))?.env }),
  });
  return kept.map(({ nativeId, backend, title = "" }) => ({ word: nativeId, summary: `${backend}: ${title}` }));
}
