/**
 * Finds the records of the branch that Claude Code resumes. A session file is a tree: going back in the conversation
 * starts another branch, and each record names its parent.
 */
import type { HistoryRecord } from "./history-record.ts";

/** More records are refused, to bound the memory. A long session has some thousands. */
export const MAX_HISTORY_RECORDS = 500_000;

interface Node {
  /** Line of the parent. -1: none. */
  readonly parent: number;
  /** The line in the file. */
  readonly line: number;
  readonly messageId: string | undefined;
  readonly isResult: boolean;
}

export class HistoryTree {
  readonly #nodes: Node[] = [];
  readonly #byUuid = new Map<string, number>();
  #leaf = -1;

  get size(): number {
    return this.#nodes.length;
  }

  /** Adds a record that has a UUID. A parent that is missing, as in a damaged file, counts as the record before. */
  add(record: HistoryRecord, line: number): void {
    const { uuid, type, parentUuid, logicalParentUuid, isSidechain, message } = record;
    if (uuid == null || isSidechain === true) return;
    const index = this.#nodes.length;
    const named = parentUuid ?? logicalParentUuid;
    const parent = named == null ? -1 : (this.#byUuid.get(named) ?? index - 1);
    this.#nodes.push({
      parent,
      line,
      messageId: type === "assistant" ? (message?.id ?? undefined) : undefined,
      isResult: type === "user" && hasToolResult(message?.content),
    });
    this.#byUuid.set(uuid, index);
    if (type === "user" || type === "assistant") this.#leaf = index;
  }

  /**
   * Returns the lines of the branch. Results of parallel calls, and further blocks of a message, are siblings of the
   * records that lead to the last one (2.1.325), and belong to it.
   */
  lines(): ReadonlySet<number> {
    const branch = new Set<number>();
    for (let at = this.#leaf; at !== -1 && !branch.has(at); at = this.#nodes[at]?.parent ?? -1) branch.add(at);
    const messages = new Set([...branch].flatMap((at) => this.#nodes[at]?.messageId ?? []));
    const lines = new Set<number>();
    for (const [at, { parent, line, messageId, isResult }] of this.#nodes.entries()) {
      const belongs = (isResult && branch.has(parent)) || (messageId !== undefined && messages.has(messageId));
      if (belongs) branch.add(at);
      if (branch.has(at)) lines.add(line);
    }
    return lines;
  }
}

function hasToolResult(content: unknown): boolean {
  return (
    Array.isArray(content) && content.some((block) => (block as { type?: unknown } | null)?.type === "tool_result")
  );
}
