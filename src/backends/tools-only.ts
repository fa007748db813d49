/** No agent at all: a session that holds the tools of one, for a program that brings its own model. */
import { codingTools } from "../agent/index.ts";
import { NO_CAPABILITIES, RookeryError, type Backend } from "../domain/index.ts";
import { openEquipment, type Wanted } from "./equipment.ts";
import { withoutSecrets } from "./secrets.ts";

export interface ToolsOnlyOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly wanted?: Wanted | undefined;
}

export function toolsOnlyBackend({ env, wanted = {} }: ToolsOnlyOptions): Backend {
  return {
    kind: "api",
    async open({ cwd, marker, saved, mcpServers = [] }) {
      const clean = withoutSecrets(env);
      const servers = [...(wanted.servers ?? []), ...mcpServers];
      const base = [codingTools({ env: clean })];
      const equipment = await openEquipment({ ...wanted, servers, cwd, marker, saved, env: clean, base });
      return {
        resumesTurns: false,
        capabilities: NO_CAPABILITIES,
        tools: equipment.held,
        attach: (desk) => equipment.attach(desk),
        runTurn: () => Promise.reject(new RookeryError("agent_unavailable", "this session only serves its tools")),
        [Symbol.asyncDispose]: () => equipment[Symbol.asyncDispose](),
      };
    },
  };
}
