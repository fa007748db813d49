/**
 * Sessions: open, drive, answer, fork, end and delete them.
 *
 * `open.ts` creates or reopens a `Session`, the object that callers use. Its parts: the `SessionAgent` has the
 * connection to the agent and switches agents, the `Runner` runs turns one at a time and then the queued inputs, and the `Recorder` is the
 * only writer of the log. `turn.ts` runs one turn, with the `TurnContext` that `turn-context.ts` creates for the agent.
 * The other files work on a session from any process, through its log.
 */
export { formatPromptCommand } from "./expand-prompt.ts";
export { adoptNativeSession, listNativeSessions, nativeKey } from "./adopt.ts";
export * from "./answer.ts";
export { deleteStoredSession } from "./delete.ts";
export {
  definitionEvents,
  toNamedChanges,
  type AgentSettings,
  type Changes,
  type NamedChanges,
} from "./agent-settings.ts";
export type { PrepareAgent, PreparedAgent } from "./session-agent.ts";
export { forkStoredSession } from "./fork.ts";
export { MAX_INPUT_BYTES, requireAttachments } from "./input.ts";
export { abandonLease } from "./abandoned-leases.ts";
export { keepLeaseRenewed } from "./lease-keeper.ts";
export { DEFAULT_LEASE_TIMING, type LeaseTiming } from "./lease-timing.ts";
export { isOtherProcessError, isDriven, isHeldLease, releaseSessionLease, takeLease } from "./lease.ts";
export * from "./open.ts";
export { readSessionPages } from "./pages.ts";
export {
  checkAdoptOptions,
  checkForkOptions,
  checkNativeSessionsQuery,
  AdoptArgument,
  AgentDefinitionArgument,
  checkOpenOptions,
  checkRemoteServerSpec,
  checkServerSpecs,
  checkText,
  parseRevokeOptions,
} from "./parameters.ts";
export * from "./rookery-parameters.ts";
export { MAX_MESSAGES, listConversationBlobs, toReplacementEvent, type Replacement } from "./conversation.ts";
export type { Answer, CloseOptions, Deliver, RevokeOptions } from "./method-types.ts";
export type { Turn } from "./turn-handle.ts";
export { Session } from "./session.ts";
export { followWithRetry, isTransientFailure, retryPause, retryStore, watchWithRetry } from "./store-retry.ts";
export { requireNoRunningTask, findRunningTask } from "./task-session.ts";
export { listWaitingRequests, sessionWaitingRequests, type WaitingRequest } from "./waiting-requests.ts";
export * from "./usage.ts";
export {
  DEFAULT_MATCHES,
  searchSessions,
  type SearchCursor,
  type SearchMatch,
  type SearchQuery,
  type SearchResult,
} from "./search.ts";
export { UsageReportCache, type UsageReport } from "./usage-reports.ts";
export { queueStoredInput } from "./queue-input.ts";
export { cancelStoredTurn, waitForTurnEnd } from "./cancel-turn.ts";
export { revokeStoredGrant } from "./revoke-grant.ts";
export { readWithdrawnInput, withdrawStoredInput } from "./withdraw-input.ts";
