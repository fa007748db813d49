/** The MCP servers for an ACP agent: it also reaches servers in this process, and those that only it understands. */
import type { McpServerSpec } from "../../domain/index.ts";
import type { Equipment } from "../equipment.ts";
import { reserveServerName } from "../offered-tools.ts";
import { hasToolsToOffer, type ProgramServers } from "../program/index.ts";

export class AcpServers implements ProgramServers<McpServerSpec> {
  readonly #equipment: Equipment;
  readonly #brought: readonly McpServerSpec[];
  #areToolsOffered = false;

  constructor(equipment: Equipment, brought: readonly McpServerSpec[]) {
    this.#equipment = equipment;
    this.#brought = brought.map((spec) => (spec.type === "foreign" ? spec : reserveServerName(spec)));
  }

  get areToolsOffered(): boolean {
    return this.#areToolsOffered;
  }

  async all(): Promise<readonly McpServerSpec[]> {
    this.#areToolsOffered = hasToolsToOffer(this.#equipment);
    if (!this.#areToolsOffered) return this.#brought;
    const offered = await this.#equipment.sessionTools.offer();
    return [...this.#brought.filter(({ name }) => name !== offered.name), offered];
  }

  async [Symbol.asyncDispose](): Promise<void> {} // it opens nothing
}
