/** The services and settings that every route handler receives. */
import type { ServerConnections } from "../../stdx/index.ts";
import type { ClusterMetrics } from "../../telemetry/index.ts";
import type { AgentsQuery, AgentRow } from "./agents.ts";
import type { DrivenSessions } from "./driven-sessions.ts";
import type { AgentRequirement } from "./required-agents.ts";
import type { PageResponder } from "./page/respond.ts";
import type { Tickets } from "./page/tickets.ts";
import type { Metrics } from "./metrics.ts";
import type { IdempotentRequests } from "./idempotent-requests.ts";
import type { McpLogins } from "./mcp-logins.ts";
import type { ServerReadiness } from "./readiness.ts";
import type { ServedRookery } from "./served-rookery.ts";
import type { TaskMcp } from "./task-mcp.ts";
import type { Streams } from "./stream/streams.ts";

export interface HandlerContext {
  readonly rookery: ServedRookery;
  readonly token: string;
  readonly version: string;
  readonly startedAt: string;
  readonly sessions: DrivenSessions;
  readonly streams: Streams;
  readonly logins: McpLogins;
  readonly connections: ServerConnections;
  readonly requests: IdempotentRequests;
  readonly taskMcp: TaskMcp;
  readonly metrics: Metrics;
  readonly cluster: ClusterMetrics;
  readonly readiness: ServerReadiness;
  readonly page: PageResponder;
  readonly tickets: Tickets;
  /** The URL of the page with a ticket in it. */
  signInUrl(ticket: string): string;
  /** How long a slow request is awaited before the server responds with 202, in milliseconds. */
  readonly slowWaitMs: number;
  /** Default of `cwd`, here and below: the working directory of the server. */
  agents(query: Partial<AgentsQuery>): Promise<readonly AgentRow[]>;
  /** Rejects with `agent_not_ready` if the environment of the server lacks what an agent needs. */
  requireReady(requirement: Omit<AgentRequirement, "cwd"> & { readonly cwd?: string | undefined }): Promise<void>;
}
