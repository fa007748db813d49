/** All that a server offers over one connection, listed again whenever it says that it changed. */
import { messageOf, type McpPrompt, type McpResource } from "../domain/index.ts";
import { deadline } from "../stdx/index.ts";
import type { Link } from "./link.ts";
import { readPrompts, readResources, readTemplates } from "./lists/extras.ts";
import { allPages } from "./lists/pages.ts";
import { Refresh } from "./lists/refresh.ts";
import { NO_TOOLS, readTools, type ToolTable } from "./lists/tools.ts";
import { shortened } from "./shortened.ts";

export interface OfferOptions {
  readonly server: string;
  readonly defer: boolean | undefined;
  readonly max: number;
  readonly maxChars: number;
  readonly listMs: number;
  /** Each with what changed. */
  readonly changed: (what: { tools?: ToolTable; prompts?: McpPrompt[]; resources?: McpResource[] }) => void;
  /** Something is not as it should be, and the server is used all the same. */
  remark(text: string): void;
}

/** Of one list: a server of a thousand bad tools is not told of a thousand times. */
const MAX_REMARKS = 5;
/** Of one connection: a server that lists again and again is not told of again and again. */
const MAX_SAID = 50;
const MAX_REMARK_CHARS = 1_000;

export class Offer {
  readonly #link: Link;
  readonly #options: OfferOptions;
  readonly #closing = new AbortController();
  readonly #said = new Set<string>();
  readonly #refreshes: ReadonlyMap<string, Refresh>;
  /** What changed before the first list was taken: it is listed again after that, or the older list would win. */
  #early: Set<Refresh> | undefined = new Set();

  constructor(link: Link, options: OfferOptions) {
    this.#link = link;
    this.#options = options;
    const { changed } = options;
    const kinds: Record<string, (signal: AbortSignal) => Promise<void>> = {
      tools: async (signal) => changed({ tools: await this.tools(signal) }),
      prompts: async (signal) => changed({ prompts: await this.#prompts(signal) }),
      resources: async (signal) => changed({ resources: await this.#resources(signal) }),
    };
    this.#refreshes = new Map(
      Object.entries(kinds).map(([kind, list]) => [`notifications/${kind}/list_changed`, this.#refresh(list)]),
    );
  }

  notified(method: string): void {
    const refresh = this.#refreshes.get(method);
    if (refresh === undefined) return;
    if (this.#early === undefined) refresh.request();
    else this.#early.add(refresh);
  }

  /** When the tools were taken: prompts and resources, and what changed meanwhile. Never rejects. */
  async listOthers(): Promise<void> {
    for (const refresh of this.#early ?? []) refresh.request();
    this.#early = undefined;
    const had = (["prompts", "resources"] as const).filter((what) => this.#link.has(what));
    await Promise.all(had.map(async (what) => this.#refreshes.get(`notifications/${what}/list_changed`)?.now()));
  }

  async tools(signal: AbortSignal): Promise<ToolTable> {
    if (!this.#link.has("tools")) return NO_TOOLS;
    const table = readTools(this.#options.server, await this.#list("tools/list", "tools", signal), this.#options.defer);
    const { remarks } = table;
    for (const remark of remarks.slice(0, MAX_REMARKS)) this.#remark(remark);
    if (remarks.length > MAX_REMARKS) this.#remark(`${remarks.length - MAX_REMARKS} more of its tools are left out`);
    return table;
  }

  stop(): void {
    this.#closing.abort();
    for (const refresh of this.#refreshes.values()) refresh.stop();
  }

  async #prompts(signal: AbortSignal): Promise<McpPrompt[]> {
    return readPrompts(this.#options.server, await this.#list("prompts/list", "prompts", signal));
  }

  async #resources(signal: AbortSignal): Promise<McpResource[]> {
    const { server } = this.#options;
    // Many servers with resources have no templates, and say so with an error.
    const templates = this.#list("resources/templates/list", "resourceTemplates", signal).catch(() => []);
    const resources = await this.#list("resources/list", "resources", signal);
    return [...readResources(server, resources), ...readTemplates(server, await templates)];
  }

  async #list(method: string, key: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const { max, maxChars } = this.#options;
    const { items, cut } = await allPages(this.#link, { method, key, max, maxChars, signal });
    if (cut !== undefined) this.#remark(cut);
    return items;
  }

  #remark(text: string): void {
    const remark = shortened(text, MAX_REMARK_CHARS);
    if (this.#said.has(remark) || this.#said.size >= MAX_SAID) return;
    this.#said.add(remark);
    this.#options.remark(remark);
  }

  #refresh(run: (signal: AbortSignal) => Promise<void>): Refresh {
    return new Refresh(async () => {
      const closing = this.#closing.signal;
      using limit = deadline(this.#options.listMs, closing);
      try {
        await run(limit.signal);
      } catch (error) {
        if (!closing.aborted) this.#remark(`one of its lists could not be read again: ${messageOf(error)}`);
      }
    });
  }
}
