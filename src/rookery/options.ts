/** Options and results of the methods of `Rookery`. */
import type { Config } from "../config/index.ts";
import type {
  AgentDefinition,
  Backend,
  Budget,
  ConversationMessage,
  McpServerSpec,
  NativeSessionName,
  PermissionPolicy,
  Provider,
  Store,
} from "../domain/index.ts";
import type { DeclaredServer } from "../domain/mcp-declared.ts";
import type { AgentOverrides, SharedServices } from "../opening/index.ts";
import type { BudgetOptions, LeaseTiming } from "../session/index.ts";
import type { Clock } from "../stdx/index.ts";

export interface RookeryOptions {
  /** Environment variables for keys, URLs and folders. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Folder of the log, of trust and of logins to MCP servers. Default: `$ROOKERY_HOME`, or else `rookery` in the XDG state
   * folder. If it is set, everything of the user comes from it: the log even if the configuration names a database, and
   * the configuration from `rookery.toml` in it.
   */
  readonly home?: string;
  /** Working directory of sessions that are opened without one. Default: `process.cwd()`. */
  readonly cwd?: string;
  /** Store to use instead of the one in `home`. The caller closes it. */
  readonly store?: Store;
  /**
   * Names this machine among those that share the store. Default: `ROOKERY_HOST_ID`, or `[host] id` of the user's file,
   * or a name derived from the machine. If `store` is set, this says that other hosts use it too.
   */
  readonly host?: string;
  readonly clock?: Clock;
  /** Duration of session and task leases. Must be the same in all processes that share a store. Default: `[lease]`, or 30 s, renewed every 10 s. */
  readonly leaseTiming?: LeaseTiming;
  /** What this process measures. False to export nothing, even if the environment asks for it. */
  readonly telemetry?: TelemetrySettings | false;
  /** Called for each agent that is opened, since a plugin belongs to one session. */
  readonly plugins?: SharedServices["plugins"];
  /**
   * Backends of the caller. An agent uses one with `backend = "NAME"` in the configuration or in its definition. A
   * session of such an agent can be driven only by processes that register the backend.
   */
  readonly backends?: readonly Backend[];
  /** Model APIs of the caller. The built-in agent uses one with `model = "NAME/MODEL"`. */
  readonly providers?: readonly Provider[];
}

export interface TelemetrySettings {
  /** Whether metrics are kept for `Rookery.telemetry`. Default: only if they or traces are exported. */
  readonly metrics?: boolean;
  /** Called with a sentence if something cannot be exported. */
  readonly onProblem?: (message: string) => void;
}

export interface OpenSessionOptions extends AgentOverrides {
  /** Id of an existing session. Default: a new session. */
  readonly id?: string;
  /**
   * Creates a session from one that a program keeps: imports its history; the next prompt resumes it. Not together with
   * `id`. Default: a new session.
   */
  readonly adopt?: NativeSessionName;
  /**
   * The name of an agent of the configuration, or of the session; or the definition of one, which the log then keeps.
   * Default: the agent of the session, or for a new session the default agent.
   */
  readonly agent?: string | AgentDefinition;
  readonly model?: string;
  readonly cwd?: string;
  readonly permissions?: PermissionPolicy;
  /**
   * What the conversation of a new session starts with, such as the messages of another program. Attachments are blobs of
   * the store. Not together with `id` or `adopt`. Default: nothing.
   */
  readonly messages?: readonly ConversationMessage[];
  readonly title?: string;
  /** Id of the task that a new session belongs to. */
  readonly task?: string;
  /**
   * What the whole session may use before a person is asked for more. Recorded in the log, so pass it again only to
   * change it. Enforced by the built-in agent.
   */
  readonly budget?: Budget;
  /** Budget of the whole task, and what the task has used in other sessions. */
  readonly taskBudget?: BudgetOptions["taskBudget"];
}

export interface ServersQuery {
  /** Default: the working directory of this `Rookery`. */
  readonly cwd?: string;
  /** Limits the result to the servers of this agent. */
  readonly agent?: string;
  /** For an untrusted repository: reject with `not_trusted`, or leave out its servers. Default: `refuse`. */
  readonly untrusted?: "refuse" | "leave_out";
}

/** The MCP servers declared for a folder. */
export interface ServersFound extends Pick<Config, "root" | "trust"> {
  /** Includes disabled servers. */
  readonly declared: readonly DeclaredServer[];
  readonly specs: readonly McpServerSpec[];
}
