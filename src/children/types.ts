/** Types that the files of this folder share: the parent of children, and the services that they need. */
import type { PermissionPolicy, SessionStore } from "../domain/index.ts";
import type { Answer, Session } from "../session/index.ts";

export interface ChildrenParts {
  readonly store: SessionStore;
  /** Opens a new session if `child` is set, and otherwise the session with `id`. */
  open(options: OpenChildOptions): Promise<Session>;
  /** Ends a turn that a dead process left in the session. */
  settle(sessionId: string): Promise<void>;
  answer(sessionId: string, requestId: string, answer: Answer): Promise<void>;
}

/** The session that starts the children. */
export interface ParentSession {
  readonly sessionId: string;
  readonly agent: string;
  readonly model: string | undefined;
  readonly cwd: string;
  readonly depth: number;
  /** True if a person can answer requests. */
  readonly attended: boolean;
  readonly agents: readonly KnownAgent[];
}

export interface KnownAgent {
  readonly name: string;
  readonly backend: string;
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
