/** MCP servers outside of sessions: finds them in the configuration, connects to them, and keeps their logins. */
import { join } from "node:path";
import { loadConfig, resolveAgent } from "../config/index.ts";
import { childEnvironment } from "../domain/child-environment.ts";
import type { BetweenTurnsContext, McpServerSpec, RemoteServerSpec } from "../domain/index.ts";
import { lazyAuthorizer, type Authorizer } from "../mcp/authorizer.ts";
import type { Bounds, McpServers } from "../mcp/index.ts";
import type { Authorizers } from "../mcp/oauth/index.ts";
import { requireFolder } from "../opening/index.ts";
import type { ServersFound, ServersQuery } from "./options.ts";
import type { ProcessContext } from "./process-context.ts";

export interface ConnectServersOptions {
  readonly cwd?: string;
  readonly betweenTurns?: BetweenTurnsContext;
  readonly bounds?: Partial<Bounds>;
}

export class McpAccess {
  readonly #context: ProcessContext;
  #authorizers: Promise<Authorizers> | undefined;

  constructor(context: ProcessContext) {
    this.#context = context;
  }

  /** Starts no server. Rejects with `cwd_missing`, `config_invalid`, `agent_unknown` or `not_trusted`. */
  async findDeclared({ cwd = ".", agent, untrusted = "refuse" }: ServersQuery): Promise<ServersFound> {
    const { env } = this.#context;
    const folder = this.#context.resolveFolder(cwd);
    await requireFolder(folder);
    const leaveOut = untrusted === "leave_out" && { trust: "leave_out" as const };
    const config = await loadConfig({ cwd: folder, env, ...leaveOut });
    const chosen: { mcp?: readonly string[] | undefined } = agent === undefined ? {} : resolveAgent(config, agent);
    const { selectServers } = await import("../mcp/config/index.ts");
    const specs = selectServers(config, chosen, { cwd: folder, env });
    const declared = [...config.mcp.values()].filter(({ name }) => chosen.mcp?.includes(name) ?? true);
    return { root: config.root, trust: config.trust, declared, specs };
  }

  /** The caller closes them. */
  async connect(specs: readonly McpServerSpec[], options: ConnectServersOptions): Promise<McpServers> {
    const { cwd = ".", betweenTurns, bounds } = options;
    const { env, claim, resolveFolder } = this.#context;
    const { openServers } = await import("../mcp/index.ts");
    const servers = openServers({
      servers: specs,
      cwd: resolveFolder(cwd),
      env: childEnvironment(env),
      marker: claim(),
      authorizer: (spec) => this.authorizer(spec),
      bounds,
    });
    if (betweenTurns !== undefined) servers.attach(betweenTurns);
    return servers;
  }

  authorizer(spec: RemoteServerSpec): Authorizer {
    return lazyAuthorizer(async () => (await (this.#authorizers ??= this.#openAuthorizers())).for(spec));
  }

  async #openAuthorizers(): Promise<Authorizers> {
    const { openAuthorizers } = await import("../mcp/oauth/index.ts");
    const { home, clock, owned } = this.#context;
    return owned.use(openAuthorizers({ folder: join(home, "mcp"), clock }));
  }
}
