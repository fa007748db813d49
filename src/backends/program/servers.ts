/** The MCP servers that a program is given: ours over loopback HTTP, and what the client brought as it is. */
import type { BackendContext, McpServerSpec } from "../../domain/index.ts";
import type { LoopbackHttp } from "../../mcp/endpoint/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import type { Equipment } from "../equipment.ts";
import { broughtAs } from "../offered.ts";
import type { ReachableServer } from "./live.ts";

export class GivenServers implements AsyncDisposable {
  readonly #equipment: Equipment;
  readonly #brought: readonly McpServerSpec[];
  readonly #owned = new DisposeStack();
  #loopback: Promise<LoopbackHttp> | undefined;
  #ours: ReachableServer | undefined;
  /** Of this process, each at one place for good. */
  readonly #served = new Map<McpServerSpec, Promise<ReachableServer>>();

  constructor(equipment: Equipment, brought: BackendContext["mcpServers"] = []) {
    this.#equipment = equipment;
    this.#brought = brought.map(broughtAs);
  }

  /** Was the program given our tools? */
  get areOffered(): boolean {
    return this.#ours !== undefined;
  }

  /** Nothing is offered where there is nothing, for a program tells its model of every server. */
  get hasTools(): boolean {
    const { tools, held } = this.#equipment;
    return held.servers().servers.length > 0 || tools.artifact().catalog.size > 0;
  }

  async all(): Promise<ReachableServer[]> {
    if (this.hasTools) this.#ours ??= await this.#serve(await this.#equipment.held.offer());
    const brought = await Promise.all(this.#brought.map((spec) => this.#reachable(spec)));
    return [...brought.flatMap((spec) => spec ?? []), ...(this.#ours === undefined ? [] : [this.#ours])];
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
      case "foreign": // nobody here can read it, and the program was not told either
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
