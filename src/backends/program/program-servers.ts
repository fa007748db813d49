/** The MCP servers for a program: Rookery's over loopback HTTP, and those of the client unchanged. */
import type { BackendContext, McpServerSpec } from "../../domain/index.ts";
import type { LoopbackHttp } from "../../mcp/endpoint/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import type { Equipment } from "../equipment.ts";
import { reserveServerName } from "../offered-tools.ts";
import type { ReachableServer } from "./agent-program.ts";

/** The MCP servers that a program is started with. */
export interface ProgramServers<Server> extends AsyncDisposable {
  /** Whether the last start offered Rookery's tools. */
  readonly areToolsOffered: boolean;
  /** Returns the servers for the next start. */
  all(): Promise<readonly Server[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Whether Rookery has tools for the program. If not, it offers no server: a program presents every server to its model. */
export function hasToolsToOffer({ tools, sessionTools }: Equipment): boolean {
  return sessionTools.servers().servers.length > 0 || tools.snapshot().catalog.size > 0;
}

export class ReachableServers implements ProgramServers<ReachableServer> {
  readonly #equipment: Equipment;
  readonly #brought: readonly McpServerSpec[];
  readonly #owned = new DisposeStack();
  #loopback: Promise<LoopbackHttp> | undefined;
  #offered: ReachableServer | undefined;
  /** In-process servers, each with a fixed address. */
  readonly #served = new Map<McpServerSpec, Promise<ReachableServer>>();

  constructor(equipment: Equipment, brought: BackendContext["mcpServers"] = []) {
    this.#equipment = equipment;
    this.#brought = brought.map(reserveServerName);
  }

  get areToolsOffered(): boolean {
    return this.#offered !== undefined;
  }

  async all(): Promise<ReachableServer[]> {
    if (hasToolsToOffer(this.#equipment))
      this.#offered ??= await this.#serve(await this.#equipment.sessionTools.offer());
    const brought = await Promise.all(this.#brought.map((spec) => this.#reachable(spec)));
    return [...brought.flatMap((spec) => spec ?? []), ...(this.#offered === undefined ? [] : [this.#offered])];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }

  async #reachable(spec: McpServerSpec): Promise<ReachableServer | undefined> {
    switch (spec.type) {
      case "stdio":
      case "http":
      case "sse":
        return spec;
      case "memory":
        return this.#servedOnce(spec);
      case "foreign": // Rookery cannot convert it for the program
      case "unusable":
        return undefined;
    }
  }

  #servedOnce(spec: Extract<McpServerSpec, { type: "memory" }>): Promise<ReachableServer> {
    const served = this.#served.get(spec) ?? this.#serve(spec);
    this.#served.set(spec, served);
    return served;
  }

  async #serve(spec: Parameters<LoopbackHttp["serve"]>[0]): Promise<ReachableServer> {
    this.#loopback ??= this.#listen();
    return (await this.#loopback).serve(spec).spec;
  }

  async #listen(): Promise<LoopbackHttp> {
    const { LoopbackHttp } = await import("../../mcp/endpoint/index.ts");
    return this.#owned.use(await LoopbackHttp.listen());
  }
}
