/** Checks the tool calls in updates and permission requests: absolute paths, and the diff of an edit before it is made. */
import { posix, win32 } from "node:path";
import { getObjectMember, isJsonObject, type JsonMembers } from "../../wire/json-object.ts";
import type { ObservedMessage } from "./agent/check-connection.ts";
import type { Findings } from "./findings.ts";
import { quoteJson } from "./quote.ts";

/** Tool calls whose kind and diffs are remembered. */
const MAX_CALLS = 1_000;

interface SeenCall {
  isEdit: boolean;
  hasDiff: boolean;
}

export class ToolCallObserver {
  readonly #findings: Findings;
  readonly #calls = new Map<string, SeenCall>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  observe(message: ObservedMessage): void {
    if (message.kind === "answer" || !isJsonObject(message.params)) return;
    const isRequest = message.method === "session/request_permission";
    const call = getObjectMember(message.params, isRequest ? "toolCall" : "update");
    if (typeof call["toolCallId"] !== "string") return;
    this.#checkPaths(call);
    const seen = this.#track(call["toolCallId"], call);
    if (!isRequest || !seen.isEdit) return;
    if (seen.hasDiff) this.#findings.pass(26);
    else
      this.#findings.fail(
        26,
        `session/request_permission for the edit ${quoteJson(call["title"] ?? null)} had no diff`,
      );
  }

  #checkPaths(call: JsonMembers): void {
    const paths = [
      ...listObjects(call["locations"]).map(({ path }) => ({ what: "the location", path })),
      ...listDiffs(call).map(({ path }) => ({ what: "the diff of", path })),
    ];
    for (const { what, path } of paths) {
      if (typeof path !== "string") continue; // check 7 reports it
      if (posix.isAbsolute(path) || win32.isAbsolute(path)) this.#findings.pass(25);
      else this.#findings.fail(25, `${what} ${quoteJson(path)} is not an absolute path`);
    }
  }

  /** A request may leave out what an update has reported before. */
  #track(id: string, call: JsonMembers): SeenCall {
    const seen = this.#calls.get(id) ?? { isEdit: false, hasDiff: false };
    if (typeof call["kind"] === "string") seen.isEdit = call["kind"] === "edit";
    seen.hasDiff ||= listDiffs(call).length > 0;
    if (this.#calls.size < MAX_CALLS) this.#calls.set(id, seen);
    return seen;
  }
}

function listDiffs(call: JsonMembers): readonly JsonMembers[] {
  return listObjects(call["content"]).filter(({ type }) => type === "diff");
}

function listObjects(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
