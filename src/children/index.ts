/** Sessions that the agent of a session begins: found again by their ids, driven, and stopped with whoever began them. */
import {
  isRookeryError,
  type BackendKind,
  type ChildEnd,
  type Children,
  type PermissionPolicy,
  type SessionStore,
} from "../domain/index.ts";
import type { Answer, Session } from "../session/index.ts";
import { readChildEnd } from "./child-end.ts";
import { runChild } from "./run.ts";

export interface ChildrenParts {
  readonly store: SessionStore;
  /** A new session where `child` says whose it is, else the one with the id. */
  open(options: OpenChildOptions): Promise<Session>;
  /** Ends what a dead process left running in it. */
  settle(sessionId: string): Promise<void>;
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
}

/** The session whose children they are. */
export interface ParentSession {
  readonly sessionId: string;
  readonly agent: string;
  readonly model: string | undefined;
  readonly cwd: string;
  readonly depth: number;
  /** Can anyone be asked for a permission? */
  readonly attended: boolean;
  readonly agents: readonly KnownAgent[];
}

export interface KnownAgent {
  readonly name: string;
  readonly backend: BackendKind;
  readonly model: string | undefined;
  readonly permissions: PermissionPolicy | undefined;
}

export interface OpenChildOptions {
  readonly id?: string;
  readonly child?: { readonly id: string; readonly parent: string; readonly depth: number };
  readonly agent: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly permissions?: PermissionPolicy;
  readonly title?: string;
  readonly attended: boolean;
}

export function openChildren(parts: ChildrenParts, parent: ParentSession): Children {
  return {
    depth: parent.depth,
    agents: parent.agents.map(({ name, backend, model }) => ({ name, backend, model })),
    run: (child, watcher, signal) => runChild({ ...parts, parent }, child, watcher, signal),
    settle: (childId) => settleChild(parts, childId),
  };
}

/** A living process may go on with it; then it is that one's. */
async function settleChild(parts: ChildrenParts, childId: string): Promise<ChildEnd> {
  await parts.settle(childId).catch((error: unknown) => {
    if (!isRookeryError(error, "session_not_found") && !isRookeryError(error, "session_in_use")) throw error;
  });
  return (await readChildEnd(parts.store, childId)) ?? { outcome: { status: "cancelled" }, text: "", usage: undefined };
}
