/** A session without an agent that serves tools to a program with its own model. */
import { createCodingTools } from "../agent/index.ts";
import { childEnvironment } from "../domain/child-environment.ts";
import { NO_CAPABILITIES, RookeryError, type Backend } from "../domain/index.ts";
import { DisposeStack } from "../stdx/index.ts";
import { openEquipment, type Equipment, type AgentResources } from "./equipment.ts";

export interface ToolsOnlyOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly resources?: AgentResources | undefined;
  /** Absolute folders that the file tools may access besides the working directory. */
  readonly folders?: readonly string[] | undefined;
}

export function toolsOnlyBackend({ env, resources = {}, folders }: ToolsOnlyOptions): Backend {
  return {
    kind: "api",
    async open({ cwd, marker, saved, mcpServers = [] }) {
      const clean = childEnvironment(env);
      const servers = [...(resources.servers ?? []), ...mcpServers];
      const coding = createCodingTools({ env: clean, folders, record: (body) => equipment.betweenTurns?.record(body) });
      const base = [coding];
      const equipment: Equipment = await openEquipment({ ...resources, servers, cwd, marker, saved, env: clean, base });
      const owned = new DisposeStack();
      owned.use(equipment);
      owned.use(coding);
      return {
        resumesTurns: false,
        capabilities: NO_CAPABILITIES,
        tools: equipment.sessionTools,
        attach: (betweenTurns) => equipment.attach(betweenTurns),
        runTurn: () =>
          Promise.reject(
            new RookeryError(
              "agent_unavailable",
              "this session only serves tools and cannot run prompts; open a session with an agent instead",
            ),
          ),
        [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
      };
    },
  };
}
