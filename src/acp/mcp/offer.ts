/** Gives MCP servers to an agent in a form that it takes: as they are, over ACP, over loopback HTTP, or through a bridge on stdio. */
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
  /** `agentCapabilities.mcpCapabilities`, as the agent said it; nothing means stdio alone. */
  readonly support?: McpSupport | null | undefined;
  /** What serves on the connection to the agent. Without it servers of this process go another way. */
  readonly overAcp?: McpOverAcp | undefined;
  /** The command of the bridge program; that of the package if not said. */
  readonly bridge?: readonly string[] | undefined;
}

/** Owns what was opened for it: when it is disposed, the servers of this process cannot be reached any more. */
export interface Offer extends AsyncDisposable {
  /** For `mcpServers` of a request that sets a session up. */
  readonly mcpServers: readonly McpDeclaration[];
}

/** Every server is in the offer, in the order given; one that the agent cannot take in any form does not exist. */
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

/** Agents keep servers by name: the second would replace the first, and nobody would be told. */
function refuseSameNames(servers: readonly (McpDeclaration | InProcessServer)[]): void {
  const names = new Set<unknown>();
  for (const server of servers) {
    const { name } = server as { readonly name?: unknown };
    if (typeof name === "string" && names.has(name)) {
      throw new RookeryError(
        "config_invalid",
        `two MCP servers are called ${JSON.stringify(name)}; rename one of them`,
      );
    }
    names.add(name);
  }
}
