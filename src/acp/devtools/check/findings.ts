/**
 * Collects what was observed for each check. One failure outweighs any number of passes, and "nothing observed" is
 * reported too.
 */
import { CHECK_CATALOG, CHECK_IDS, type CheckId } from "./catalog.ts";
import { isJsonObject } from "../../wire/json-object.ts";
import { truncateText } from "./quote.ts";
import type { CheckReport, CheckResult, CheckStatus } from "./report.ts";

type AgentIdentity = Pick<CheckReport, "protocolVersion" | "agent">;

const MAX_DETAIL_LENGTH = 400;
const SHORT_ID_LENGTH = 8;

export class Findings {
  readonly #passed = new Set<CheckId>();
  readonly #notOffered = new Set<CheckId>();
  readonly #failed = new Map<CheckId, string>();
  readonly #notSeenReasons = new Map<CheckId, string>();
  readonly #partlyNotSeen = new Set<CheckId>();
  readonly #sessions = new Set<string>();

  #introduction: AgentIdentity = { protocolVersion: undefined, agent: undefined };

  /** Records the agent's first `initialize` response. */
  recordIdentity(initialized: Readonly<Record<string, unknown>>): void {
    const { protocolVersion, agentInfo } = initialized;
    if (this.#introduction.protocolVersion !== undefined) return;
    this.#introduction = {
      protocolVersion: typeof protocolVersion === "number" ? protocolVersion : undefined,
      agent: isJsonObject(agentInfo)
        ? { name: String(agentInfo["name"]), version: String(agentInfo["version"]) }
        : undefined,
    };
  }

  get identity(): AgentIdentity {
    return this.#introduction;
  }

  pass(id: CheckId): void {
    this.#passed.add(id);
  }

  /** Keeps the first failure only; later ones are often its consequences. */
  fail(id: CheckId, detail: string): void {
    if (!this.#failed.has(id)) this.#failed.set(id, detail);
  }

  notOffered(id: CheckId): void {
    this.#notOffered.add(id);
  }

  /** Records why the agent gave no occasion for the check. Ignored if the check passed or failed. */
  notSeen(id: CheckId, why: string): void {
    if (!this.#notSeenReasons.has(id)) this.#notSeenReasons.set(id, why);
  }

  /** Like `notSeen`, for an essential part of the check: passes of the other parts do not outweigh it. */
  partlyNotSeen(id: CheckId, why: string): void {
    this.#partlyNotSeen.add(id);
    this.#notSeenReasons.set(id, why);
  }

  /** Replaces the session id in reports, because it differs from run to run. */
  hideSessionId(sessionId: string): void {
    if (sessionId !== "") this.#sessions.add(sessionId);
  }

  results(only: readonly number[] = CHECK_IDS): CheckResult[] {
    return CHECK_IDS.filter((id) => only.includes(id)).map((id) => {
      const status = this.#status(id);
      const detail =
        status === "fail" ? this.#failed.get(id) : status === "not_seen" ? this.#notSeenReasons.get(id) : undefined;
      return {
        id,
        ...CHECK_CATALOG[id],
        status,
        ...(detail !== undefined && { detail: this.#hideSessionIds(detail) }),
      };
    });
  }

  #status(id: CheckId): CheckStatus {
    if (this.#failed.has(id)) return "fail";
    if (this.#passed.has(id) && !this.#partlyNotSeen.has(id)) return "pass";
    return this.#notOffered.has(id) ? "not_offered" : "not_seen";
  }

  #hideSessionIds(detail: string): string {
    const longestFirst = [...this.#sessions].sort((one, other) => other.length - one.length);
    const concealed = longestFirst.reduce((text, id) => {
      // A short id is part of many words, so only whole strings are replaced.
      return id.length < SHORT_ID_LENGTH
        ? text.replaceAll(JSON.stringify(id), '"<session>"')
        : text.replaceAll(id, "<session>");
    }, detail);
    return truncateText(concealed, MAX_DETAIL_LENGTH);
  }
}
