/** The `codex` backend: over `codex app-server`, and over `codex exec` where that is missing. */
import type { Backend, Capabilities } from "../../domain/index.ts";
import { locate } from "../locate.ts";
import { programBackend, type ProgramOptions } from "../program/index.ts";
import { startAppServer } from "./app-server.ts";

export type CodexOptions = ProgramOptions;

const CAPABILITIES: Capabilities = {
  resume: true,
  fork: true,
  permissions: true,
  questions: true,
  mcp: true,
  models: true,
  modes: true,
  interrupt: true,
  usage: true,
  cost: false,
};

export function codexBackend(options: CodexOptions): Backend {
  return programBackend(
    {
      kind: "codex",
      capabilities: CAPABILITIES,
      async start(start) {
        const { agent, cwd } = start.context;
        const command = locate("codex", agent.name, { env: start.env, cwd, command: agent.command });
        return startAppServer(start, command);
      },
    },
    options,
  );
}
