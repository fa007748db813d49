/** The `opencode` backend: drives opencode's ACP server. */
import type { Backend } from "../../domain/index.ts";
import { acpBackend } from "../acp/backend.ts";
import { requireProgram } from "../locate.ts";
import type { ProgramOptions } from "../program/index.ts";
import { permissionRules } from "./permissions.ts";

export type OpencodeOptions = ProgramOptions;

export function opencodeBackend({ env, resources }: OpencodeOptions): Backend {
  return acpBackend({
    kind: "opencode",
    env,
    resources: resources,
    capabilities: { questions: false }, // its question tool is not available over ACP (1.18)
    launch: ({ agent, cwd }, permissions) => {
      const program = requireProgram("opencode", agent.name, { env, cwd, command: agent.command });
      const rules = permissionRules(permissions, agent.mode);
      return {
        command: [...program, "acp"],
        env: {
          OPENCODE_DISABLE_AUTOUPDATE: "1", // the program must not change during a session
          ...(rules !== undefined && { OPENCODE_PERMISSION: rules }),
        },
      };
    },
  });
}
