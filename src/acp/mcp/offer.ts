/**
 * Offers MCP servers to an agent in a form that it supports: as declared, over ACP, over loopback HTTP, or through a
 * bridge on stdio.
 */
import { RookeryError } from "../../domain/errors.ts";
import { LoopbackHttp } from "../../mcp/endpoint/loopback.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { bridgeCommand, toBridgedDeclaration } from "./bridge-target.ts";
import {
  advertises,
  isInProcess,
  isRemote,
  type InProcessServer,
  type McpDeclaration,
  type McpSupport,
} from "./declaration.ts";
import type { McpOverAcp } from "./over-acp/provider.ts";
import { remoteDeclaration } from "./spec.ts";

export interface OfferOptions {
  /** `agentCapabilities.mcpCapabilities` of the agent. Default: stdio only. */
  readonly support?: McpSupport | null | undefined;
  /**
   * Serves MCP on the connection to the agent. Without it, servers in this process are offered over HTTP or the bridge.
   */
  readonly overAcp?: McpOverAcp | undefined;
  /** The command of the bridge program. Default: the one of this package. */
  readonly bridge?: readonly string[] | undefined;
}

/** Owns what was opened for it. After disposal, servers in this process can no longer be reached. */
export interface Offer extends AsyncDisposable {
  /** For `mcpServers` of a request that sets a session up. */
  readonly mcpServers: readonly McpDeclaration[];
}

/**
 * The offer contains every server, in the given order; each has a form that every agent supports. Rejects with
 * `config_invalid` if two servers have the same name.
 */
export async function offerServers(
  servers: readonly (McpDeclaration | InProcessServer)[],
  { support, overAcp, bridge }: OfferOptions = {},
): Promise<Offer> {
  refuseSameNames(servers);
  await using opening = new DisposeStack();
  let loopback: LoopbackHttp | undefined;
  const throughBridge = (declaration: Parameters<typeof toBridgedDeclaration>[0]) =>
    toBridgedDeclaration(declaration, bridge ?? bridgeCommand());

  async function offerOwn(server: InProcessServer): Promise<McpDeclaration> {
    if (overAcp !== undefined && advertises(support, "acp")) return opening.use(overAcp.serve(server)).declaration;
    loopback ??= opening.use(await LoopbackHttp.listen());
    const declaration = remoteDeclaration(loopback.serve(server).spec);
    return advertises(support, "http") ? declaration : throughBridge(declaration);
  }

  function offerDeclared(declaration: McpDeclaration): McpDeclaration {
    if (!isRemote(declaration) || advertises(support, declaration.type)) return declaration;
    return throughBridge(declaration);
  }

  const mcpServers: McpDeclaration[] = [];
  for (const server of servers) {
    mcpServers.push(isInProcess(server) ? await offerOwn(server) : offerDeclared(server));
  }
  const owned = opening.move();
  return { mcpServers, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

/** Agents store servers by name: the second would silently replace the first. */
function refuseSameNames(servers: readonly (McpDeclaration | InProcessServer)[]): void {
  const names = new Set<unknown>();
  for (const server of servers) {
    const { name } = server as { readonly name?: unknown };
    if (typeof name === "string" && names.has(name)) {
      throw new RookeryError(
        "config_invalid",
        `two MCP servers have the name ${JSON.stringify(name)}; rename one of them`,
      );
    }
    names.add(name);
  }
}
