/** The `acp` backend: any agent that speaks the Agent Client Protocol on its stdio. */
import {
  ALL_CAPABILITIES,
  RookeryError,
  type Backend,
  type BackendContext,
  type BackendKind,
  type Capabilities,
  type McpServerSpec,
  type PermissionPolicy,
} from "../../domain/index.ts";
import { builtinRegistry, resolveLaunch } from "../../acp/index.ts";
import type { AgentResources } from "../equipment.ts";
import { openProgram, type AgentProgram } from "../program/index.ts";
import { AcpServers } from "./acp-servers.ts";
import { findForkMethod, hasModes, type LiveAcpAgent } from "./live-agent.ts";
import { startAcpProgram } from "./live-program.ts";
import { AcpMessageRouter } from "./message-router.ts";
import { toFailureOutcome } from "./outcome.ts";

export interface AcpBackendOptions {
  /** The complete environment of the agent's process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly auth?: string | undefined;
  readonly serve?: readonly ("files" | "terminals")[] | undefined;
  /** The backend kind to report, for a program with a backend of that name. Default: `acp`. */
  readonly kind?: BackendKind | undefined;
  /** Overrides of the capabilities that the agent announces. */
  readonly capabilities?: Partial<Capabilities> | undefined;
  /** Builds the command line for a permission policy. Default: the configured command, or the registry's. */
  readonly launch?: ((context: BackendContext, permissions: PermissionPolicy) => AcpLaunch) | undefined;
  /** The agent's name in the registry. Used if the configuration has no command. */
  readonly registry?: string | undefined;
  readonly resources?: AgentResources | undefined;
  /** The environment of commands in the agent's terminals. Default: `env` without credentials. */
  readonly commandEnv?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface AcpLaunch {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Capabilities of the protocol, without those that an agent must announce. */
const CAPABILITIES: Capabilities = { ...ALL_CAPABILITIES, resume: false, fork: false, modes: false };

export function acpBackend(options: AcpBackendOptions): Backend {
  const { env, resources = {} } = options;
  return {
    kind: options.kind ?? "acp",
    open: (context) => {
      const { mcpServers = [] } = context;
      const program = createAcpProgram(context, options);
      const open = (brought: readonly McpServerSpec[], hosted: readonly McpServerSpec[] = []) =>
        openProgram({
          program,
          context,
          env,
          resources: { ...resources, servers: [...(resources.servers ?? []), ...hosted] },
          createServers: (equipment) => new AcpServers(equipment, brought),
        });
      // With a tool filter, Rookery connects to the client's servers and offers their tools. Only the agent can use foreign ones.
      const foreign = mcpServers.filter(({ type }) => type === "foreign");
      return isFiltered(resources) ? open(foreign, mcpServers) : open(mcpServers);
    },
  };
}

function isFiltered({ filter }: AgentResources): boolean {
  const { allow = [], deny = [] } = filter ?? {};
  return allow.length + deny.length > 0;
}

function createAcpProgram(context: BackendContext, options: AcpBackendOptions): AgentProgram<McpServerSpec> {
  const { env, auth, serve = [], commandEnv, capabilities } = options;
  const router = new AcpMessageRouter(context.agent.name);
  return {
    kind: options.kind ?? "acp",
    capabilities: { ...CAPABILITIES, ...capabilities },
    async start({ native, permissions, servers, signal }) {
      const launch = chooseLaunch(context, permissions, options);
      return startAcpProgram({
        context,
        servers,
        command: launch.command,
        env: { ...env, ...launch.env },
        auth,
        serve,
        commandEnv,
        native,
        signal,
        router,
        readCapabilities: (live) => ({ ...readCapabilities(live), ...capabilities }),
        fitsPolicy: (policy) => JSON.stringify(chooseLaunch(context, policy, options)) === JSON.stringify(launch),
      });
    },
    toFailureOutcome: (error) => toFailureOutcome(error, context.agent.name),
  };
}

/** Throws `config_invalid` if the agent has no command. */
function chooseLaunch(
  context: BackendContext,
  permissions: PermissionPolicy,
  { launch, registry }: AcpBackendOptions,
): AcpLaunch {
  const { command, name } = context.agent;
  if (launch !== undefined) return launch(context, permissions);
  if (command !== undefined) return { command };
  if (registry !== undefined) return resolveLaunch(builtinRegistry(), registry);
  const fix = `add command = ["…"] or registry = "…" under [agents.${name}]`;
  throw new RookeryError("config_invalid", `agent ${name} has no command to start; ${fix}`);
}

function readCapabilities({ client, session }: LiveAcpAgent): Capabilities {
  const { loadSession, sessionCapabilities } = client.capabilities;
  return {
    ...CAPABILITIES,
    resume: sessionCapabilities?.resume != null || loadSession === true,
    modes: hasModes(session),
    fork: findForkMethod(client) !== undefined,
  };
}
