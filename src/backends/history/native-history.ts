/** The port of the sessions that a program keeps itself: finds and reads them. One implementation per program. */
import type { AdoptableBackend, NativeConversation, NativeSessionSummary } from "../../domain/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";

export interface NativeHistory {
  /** Lists the sessions of a working directory, last written first, at most `MAX_NATIVE_SESSIONS`. */
  list(env: EnvironmentVariables, cwd: string): Promise<readonly NativeSessionSummary[]>;
  /**
   * Opens a session by its ID. The caller closes it. Rejects with `native_session_not_found` or
   * `native_session_unreadable`.
   */
  open(env: EnvironmentVariables, nativeId: string): Promise<NativeConversation>;
}

export const MAX_NATIVE_SESSIONS = 100;

/** Imports only the code of this backend. */
export async function loadNativeHistory(backend: AdoptableBackend): Promise<NativeHistory> {
  switch (backend) {
    case "claude-code":
      return (await import("../claude/history.ts")).claudeHistory;
    case "codex":
      return (await import("../codex/history.ts")).codexHistory;
    case "gemini-cli":
      return (await import("../gemini/history.ts")).geminiHistory;
  }
}
