/** For tests: sessions in a store that no agent has driven. */
import type { SessionStore } from "../../domain/store.ts";

export interface TestSession {
  /** Default: `/`. */
  readonly cwd?: string;
  readonly task?: string;
  readonly parent?: string;
  readonly depth?: number;
  /** When it was opened. Default: the start of 2026. */
  readonly at?: string;
}

export async function openTestSession(store: SessionStore, sessionId: string, more: TestSession = {}): Promise<void> {
  const opened = { type: "session.opened", agent: "a", backend: "api", permissions: "ask" } as const;
  const { at = "2026-01-01T00:00:00.000Z", ...rest } = more;
  await store.append({ sessionId, id: sessionId, expectedHead: 0, events: [{ ...opened, at, cwd: "/", ...rest }] });
}
