/** What the task tools need from the process that serves them. */
import type { StartTask } from "../../domain/index.ts";
import type { AgentRow } from "../http/agents.ts";
import type { ServedRookery } from "../http/served-rookery.ts";

export interface TaskServerOptions {
  readonly rookery: Pick<ServedRookery, "store" | "tasks" | "tell" | "answer">;
  readonly version: string;
  /**
   * Whether the model may answer permission requests and start tasks that need no permission. Default: false, because an
   * agent could then approve its own work.
   */
  readonly answers?: boolean | undefined;
  /** `cwd` is undefined for the working directory of the process. */
  agents(cwd: string | undefined): Promise<readonly AgentRow[]>;
  /** Rejects with `agent_not_ready` if no process can run the task. */
  requireReady(request: StartTask): Promise<void>;
}
