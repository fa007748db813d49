/** Child sessions of an agent: finds them by ID, drives them, and stops them with their parent. */
import { isRookeryError, type ChildEnd, type Children } from "../domain/index.ts";
import { readChildEnd } from "./child-end.ts";
import { runChild } from "./run.ts";
import type { ChildrenParts, ParentSession } from "./types.ts";

export type { ChildrenParts, KnownAgent, OpenChildOptions, ParentSession } from "./types.ts";

export function openChildren(parts: ChildrenParts, parent: ParentSession): Children {
  return {
    depth: parent.depth,
    agents: parent.agents.map(({ name, backend, model }) => ({ name, backend, model })),
    run: (child, { watcher, signal }) => runChild({ ...parts, parent }, child, watcher, signal),
    settle: (childId) => settleChild(parts, childId),
  };
}

/** Ends a child that a dead process left. If a live process drives it, leaves it alone. */
async function settleChild(parts: ChildrenParts, childId: string): Promise<ChildEnd> {
  await parts.settle(childId).catch((error: unknown) => {
    if (!isRookeryError(error, "session_not_found") && !isRookeryError(error, "session_in_use")) throw error;
  });
  return (await readChildEnd(parts.store, childId)) ?? { outcome: { status: "cancelled" }, text: "", usage: undefined };
}
