/** What every handler has at hand. */
import type { ServerConnections } from "../../stdx/index.ts";
import type { AgentsQuery, AgentRow } from "./agents.ts";
import type { Driving } from "./driving.ts";
import type { Metrics } from "./metrics.ts";
import type { Once } from "./once.ts";
import type { Served } from "./served.ts";
import type { Streams } from "./stream/streams.ts";

export interface Door {
  readonly served: Served;
  readonly token: string;
  readonly version: string;
  readonly startedAt: string;
  readonly driving: Driving;
  readonly streams: Streams;
  readonly connections: ServerConnections;
  readonly once: Once;
  readonly metrics: Metrics;
  /** How long what is slow is waited for before its caller is told to ask again. */
  readonly patienceMs: number;
  agents(query: AgentsQuery): Promise<readonly AgentRow[]>;
}
