/** The tools, prompts and resources of a server over one connection, listed again after each change notification. */
import { messageOf, type McpPrompt, type McpResource } from "../domain/index.ts";
import { deadline } from "../stdx/index.ts";
import type { Link } from "./link.ts";
import { readPrompts, readResources, readTemplates } from "./lists/extras.ts";
import { readAllPages } from "./lists/pages.ts";
import { Refresh } from "./lists/refresh.ts";
import { NO_TOOLS, readTools, type ToolTable } from "./lists/tools.ts";
import { truncateWithCount } from "./truncate.ts";

export interface ServerListsOptions {
  readonly server: string;
  readonly defer: boolean | undefined;
  readonly max: number;
  readonly maxChars: number;
  readonly listMs: number;
  /** Called with the lists that changed. */
  readonly changed: (what: { tools?: ToolTable; prompts?: McpPrompt[]; resources?: McpResource[] }) => void;
  /** Reports a problem that does not prevent using the server. */
  remark(text: string): void;
}

/** Maximum remarks per list, for servers with thousands of bad tools. */
const MAX_REMARKS = 5;
/** Maximum remarks per connection, for servers that change constantly. */
const MAX_REPORTED_REMARKS = 50;
const MAX_REMARK_CHARS = 1_000;

export class ServerLists {
  readonly #link: Link;
  readonly #options: ServerListsOptions;
  readonly #closing = new AbortController();
  readonly #reported = new Set<string>();
  readonly #refreshes: ReadonlyMap<string, Refresh>;
  /**
   * Lists that changed before the first listing was done. They are listed again afterwards, so that the older list does
   * not win.
   */
  #changedEarly: Set<Refresh> | undefined = new Set();

  constructor(link: Link, options: ServerListsOptions) {
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

  onNotification(method: string): void {
    const refresh = this.#refreshes.get(method);
    if (refresh === undefined) return;
    if (this.#changedEarly === undefined) refresh.request();
    else this.#changedEarly.add(refresh);
  }

  /**
   * Call after the first tool list: lists prompts and resources, and everything that changed meanwhile. Never rejects.
   */
  async listOthers(): Promise<void> {
    for (const refresh of this.#changedEarly ?? []) refresh.request();
    this.#changedEarly = undefined;
    const had = (["prompts", "resources"] as const).filter((what) => this.#link.has(what));
    await Promise.all(had.map(async (what) => this.#refreshes.get(`notifications/${what}/list_changed`)?.now()));
  }

  async tools(signal: AbortSignal): Promise<ToolTable> {
    if (!this.#link.has("tools")) return NO_TOOLS;
    const table = readTools(this.#options.server, await this.#list("tools/list", "tools", signal), this.#options.defer);
    const { remarks } = table;
    for (const remark of remarks.slice(0, MAX_REMARKS)) this.#remark(remark);
    if (remarks.length > MAX_REMARKS) this.#remark(`${remarks.length - MAX_REMARKS} more of its tools are ignored`);
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
    // Many servers with resources have no templates and answer with an error.
    const templates = this.#list("resources/templates/list", "resourceTemplates", signal).catch(() => []);
    const resources = await this.#list("resources/list", "resources", signal);
    return [...readResources(server, resources), ...readTemplates(server, await templates)];
  }

  async #list(method: string, key: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const { max, maxChars } = this.#options;
    const { items, cut } = await readAllPages(this.#link, { method, key, max, maxChars, signal });
    if (cut !== undefined) this.#remark(cut);
    return items;
  }

  #remark(text: string): void {
    const remark = truncateWithCount(text, MAX_REMARK_CHARS);
    if (this.#reported.has(remark) || this.#reported.size >= MAX_REPORTED_REMARKS) return;
    this.#reported.add(remark);
    this.#options.remark(remark);
  }

  #refresh(run: (signal: AbortSignal) => Promise<void>): Refresh {
    return new Refresh(async () => {
      const closing = this.#closing.signal;
      using limit = deadline(this.#options.listMs, closing);
      try {
        await run(limit.signal);
      } catch (error) {
        if (!closing.aborted) this.#remark(`one of its lists cannot be read again: ${messageOf(error)}`);
      }
    });
  }
}
