/** The MCP servers of a folder, with their status and tools if the caller wants to connect to them. */
import type { McpSnapshot } from "../../domain/index.ts";
import { describeServer } from "../../mcp/describe/server.ts";
import { createSessionlessContext, declineQuestions } from "../../mcp/sessionless.ts";
import type { ServersFound } from "../../rookery.ts";
import { deadline } from "../../stdx/index.ts";
import type { ServedRookery } from "./served-rookery.ts";

export interface McpQuery {
  readonly cwd?: string | undefined;
  readonly agent?: string | undefined;
  /** Start and ask the servers. Default: false. */
  readonly connect?: boolean | undefined;
}

const CONNECT_MS = 15_000;
/** Bounds of what a server may add to the response. */
const MAX_ITEMS = 1_000;
const MAX_DESCRIPTION = 1_000;

/** Leaves out the servers of an untrusted repository. Rejects with `config_invalid`, `cwd_missing` or `agent_unknown`. */
export async function listMcpServers(rookery: ServedRookery, { cwd, agent, connect = false }: McpQuery) {
  const where = { ...(cwd !== undefined && { cwd }), ...(agent !== undefined && { agent }) };
  const found = await rookery.declaredServers({ ...where, untrusted: "leave_out" });
  const snapshot = connect ? await connectOnce(rookery, found, cwd) : undefined;
  return {
    root: found.root,
    trust: found.trust.status,
    connected: connect,
    servers: found.declared.map((declared) => {
      const { state, ...server } = describeServer(declared, found.specs, snapshot);
      return {
        ...server,
        tools: (state?.tools ?? []).slice(0, MAX_ITEMS).map(({ name, description }) => ({
          name,
          description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
        })),
        prompts: (state?.prompts ?? []).slice(0, MAX_ITEMS).map(({ name }) => name),
        resources: (state?.resources ?? []).slice(0, MAX_ITEMS).map(({ uri }) => uri),
      };
    }),
  };
}

const connecting = new WeakMap<ServedRookery, Map<string, Promise<McpSnapshot>>>();

/** Requests for the same servers share one connection, so that many open pages do not start each server many times. */
function connectOnce(rookery: ServedRookery, { specs }: ServersFound, cwd: string | undefined): Promise<McpSnapshot> {
  const running = connecting.get(rookery) ?? new Map<string, Promise<McpSnapshot>>();
  connecting.set(rookery, running);
  const key = JSON.stringify([cwd, specs.map(({ name }) => name)]);
  const known = running.get(key);
  if (known !== undefined) return known;
  const connected = takeSnapshot(rookery, specs, cwd).finally(() => running.delete(key));
  running.set(key, connected);
  return connected;
}

/** Servers that do not answer in time are reported as they are. */
async function takeSnapshot(
  rookery: ServedRookery,
  specs: ServersFound["specs"],
  cwd: string | undefined,
): Promise<McpSnapshot> {
  await using servers = await rookery.connectServers(specs, {
    ...(cwd !== undefined && { cwd }),
    betweenTurns: createSessionlessContext(declineQuestions),
    bounds: { firstTries: 1 },
  });
  using enough = deadline(CONNECT_MS);
  await servers.settled({ signal: enough.signal }).catch(() => undefined);
  return servers.snapshot();
}
