/** Backend for programs with their own conversation. */
import { childEnvironment } from "../../domain/child-environment.ts";
import type { AgentConnection, Backend } from "../../domain/index.ts";
import { DisposeStack, type EnvironmentVariables } from "../../stdx/index.ts";
import { openEquipment, type AgentResources } from "../equipment.ts";
import type { AgentProgram } from "./agent-program.ts";
import { ProgramConnection, type ProgramConnectionOptions } from "./program-connection.ts";
import { ReachableServers } from "./program-servers.ts";

export interface ProgramOptions {
  /** The complete environment of the program; nothing else is inherited. */
  readonly env: EnvironmentVariables;
  readonly resources?: AgentResources | undefined;
}

export function programBackend(program: AgentProgram, { env, resources }: ProgramOptions): Backend {
  return {
    kind: program.kind,
    open: (context) =>
      openProgram({
        program,
        context,
        env,
        resources,
        createServers: (equipment) => new ReachableServers(equipment, context.mcpServers),
      }),
  };
}

export interface OpenProgramOptions<Server> extends ProgramConnectionOptions<Server> {
  readonly resources?: AgentResources | undefined;
}

/** Rejects with the error of `AgentProgram.start`. A lost session is not an error; the first turn reports it. */
export async function openProgram<Server>(options: OpenProgramOptions<Server>): Promise<AgentConnection> {
  await using opening = new DisposeStack();
  const { cwd, marker, saved } = options.context;
  const { servers = [], ...resources } = options.resources ?? {};
  const env = resources.env ?? childEnvironment(options.env);
  const reported = (tool: string) => connection.takeReportedCall(tool);
  const equipment = opening.use(
    await openEquipment({ ...resources, servers, cwd, marker, saved, env, reported, base: [] }),
  );
  const connection: ProgramConnection<Server> = new ProgramConnection(options, equipment);
  await connection.open();
  opening.move(); // the connection owns the equipment from here on
  return connection;
}
