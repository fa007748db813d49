/**
 * Opens a registered backend and protects its session: what the backend returns and records is checked, waiting for it
 * is bounded, and a failure is an outcome of its turn.
 */
import {
  RookeryError,
  isRookeryError,
  messageOf,
  type AgentConnection,
  type AgentSpec,
  type Backend,
  type BackendContext,
  type BackendTools,
} from "../../domain/index.ts";
import { settlesWithin, withMarker, type EnvironmentVariables } from "../../stdx/index.ts";
import { openEquipment, type AgentResources, type Equipment } from "../equipment.ts";
import { toPlainJson } from "../../tools/index.ts";
import { RegisteredConnection } from "./registered-connection.ts";

export interface RegisteredBackendOptions {
  /** The environment of programs that the backend starts. */
  readonly env: EnvironmentVariables;
  /** Default: no tools. */
  readonly resources?: AgentResources | undefined;
  /** How long the backend may take to open a connection, and to close one, in milliseconds. Default: `TIME_LIMITS`. */
  readonly timeLimits?: BackendTimeLimits | undefined;
}

export interface BackendTimeLimits {
  readonly openMs: number;
  readonly closeMs: number;
}

/** Opening may install or start something; closing must not delay the end of the process. */
const TIME_LIMITS: BackendTimeLimits = { openMs: 120_000, closeMs: 10_000 };

export function registeredBackend(backend: Backend, options: RegisteredBackendOptions): Backend {
  return { kind: backend.kind, open: (context) => openRegistered(backend, context, options) };
}

/** Rejects with the backend's own `RookeryError`, or with `agent_unavailable`. */
async function openRegistered(
  backend: Backend,
  context: BackendContext,
  { env, resources = {}, timeLimits = TIME_LIMITS }: RegisteredBackendOptions,
): Promise<AgentConnection> {
  const { kind } = backend;
  let opening: Promise<Equipment> | undefined;
  let isOpen = false;
  const openTools = async () => {
    if (isOpen) throw new RookeryError("agent_failed", `the backend ${kind} called openTools() after open()`);
    const { cwd, marker, saved, mcpServers = [] } = context;
    const servers = [...(resources.servers ?? []), ...mcpServers];
    opening ??= openEquipment({ ...resources, servers, cwd, marker, saved, env: resources.env ?? env, base: [] });
    return toBackendTools(await opening);
  };
  const { marker, agent } = context;
  const given = { ...context, agent: toAgentSpec(agent), env: withMarker(env, marker), openTools };
  const connecting = (async () => backend.open(given))();
  try {
    if (!(await settlesWithin(timeLimits.openMs, connecting))) {
      throw new Error(`it did not return a connection within ${timeLimits.openMs / 1_000} s`);
    }
    isOpen = true;
    return new RegisteredConnection(await connecting, { backend: kind, context, equipment: await opening, timeLimits });
  } catch (error) {
    isOpen = true;
    closeLater(connecting);
    await opening?.then((equipment) => equipment[Symbol.asyncDispose]()).catch(() => undefined);
    if (isRookeryError(error)) throw error;
    const message = `the backend ${kind} could not open agent ${agent.name}: ${messageOf(error)}`;
    throw new RookeryError("agent_unavailable", message, { cause: error });
  }
}

/** The connection may arrive after nobody waits for it anymore. */
function closeLater(connecting: Promise<AgentConnection | undefined>): void {
  connecting.then((late) => late?.[Symbol.asyncDispose]()).catch(() => undefined);
}

/** Only what the port promises: a configuration has more fields, which may change. */
function toAgentSpec({
  name,
  backend,
  model,
  permissions,
  prompts,
  command,
  mode,
  subagents,
  budget,
}: AgentSpec): AgentSpec {
  return { name, backend, model, permissions, prompts: [...prompts], command, mode, subagents, budget };
}

function toBackendTools(equipment: Equipment): BackendTools {
  return {
    list: () => equipment.tools.snapshot().definitions,
    instructions: () => equipment.tools.snapshot().preamble,
    call: async (name, input, { signal = NEVER } = {}) =>
      equipment.call(name, toPlainJson(input ?? {}, "the input"), signal),
  };
}

const NEVER = new AbortController().signal;
