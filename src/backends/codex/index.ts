/** The `codex` backend: uses `codex app-server`, or `codex exec` for versions without it. */
import { ALL_CAPABILITIES, type Backend, type Capabilities } from "../../domain/index.ts";
import { requireProgram } from "../locate.ts";
import { programBackend, type ProgramOptions } from "../program/index.ts";
import { NoAppServer, startAppServer } from "./app-server.ts";
import { ExecProgram } from "./exec/program.ts";

export type CodexOptions = ProgramOptions;

const CAPABILITIES: Capabilities = { ...ALL_CAPABILITIES, cost: false, resumeTurn: true };

/** `exec` cannot ask for permission, and stopping a turn ends the process. */
const EXEC_CAPABILITIES: Capabilities = {
  ...CAPABILITIES,
  fork: false,
  permissions: false,
  questions: false,
  interrupt: false,
  resumeTurn: false,
};

export function codexBackend(options: CodexOptions): Backend {
  let hasAppServer = true;
  return programBackend(
    {
      kind: "codex",
      capabilities: CAPABILITIES,
      async start(start) {
        const { agent, cwd } = start.context;
        const command = requireProgram("codex", agent.name, { env: start.env, cwd, command: agent.command });
        if (!hasAppServer) return new ExecProgram(start, command, EXEC_CAPABILITIES);
        try {
          return await startAppServer(start, command);
        } catch (error) {
          if (!(error instanceof NoAppServer)) throw error;
          hasAppServer = false; // remembered while the session is open
          return new ExecProgram(start, command, EXEC_CAPABILITIES);
        }
      },
    },
    options,
  );
}
