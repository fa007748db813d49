/**
 * The schemas of an agent and of an MCP server as people write them: in a section of `rookery.toml`, and in an agent
 * that a program defines. They are built on first use, because most runs of the command parse none.
 */
import { z } from "zod";
import { isRookerySecret } from "./credentials.ts";
import { PERMISSION_POLICIES } from "./enums.ts";
import { findBackendNameProblem } from "./backend-name.ts";
import { EFFORTS } from "./provider.ts";

const name = () => z.string().min(1);
/** OpenAI accepts at most 64 characters, and a header of xAI only ASCII. */
export const cacheKeyText = () =>
  z.string().regex(/^[\x21-\x7e]{1,64}$/, "expected 1 to 64 ASCII characters without spaces");
const backendName = () =>
  z.string().superRefine((text, context) => {
    const problem = findBackendNameProblem(text);
    if (problem !== undefined) context.addIssue(problem);
  });
const seconds = () => z.number().positive();
const texts = () => z.record(z.string(), z.string());
const clock = () => z.union([z.number().positive(), z.literal(false)]);

/** Names of environment variables. Rookery never passes on its own secrets, so naming one is a mistake. */
export const passEnv = () =>
  z.array(
    name().refine((variable) => !isRookerySecret(variable), "Rookery's own secrets are never passed to a program"),
  );

/** A tool by its name, by a prefix with `*`, or by its MCP hints. */
const toolPattern = () =>
  z.union([
    name(),
    z
      .strictObject({
        readOnly: z.boolean().optional(),
        destructive: z.boolean().optional(),
        idempotent: z.boolean().optional(),
        openWorld: z.boolean().optional(),
      })
      .refine(
        (hints) => Object.keys(hints).length > 0,
        "expected at least one of readOnly, destructive, idempotent, openWorld",
      ),
  ]);
export type ConfiguredToolPattern = z.infer<ReturnType<typeof toolPattern>>;

/** The section `[agents.NAME]`. */
export const agentTable = () =>
  z.strictObject({
    /** A built-in backend, or one that the program which opens the session has registered. */
    backend: backendName().optional(),
    model: name().optional(),
    permissions: z.enum(PERMISSION_POLICIES).optional(),
    /** Prompt files, relative to this configuration file. */
    prompts: z.array(name()).optional(),
    tools: z
      .strictObject({ allow: z.array(toolPattern()).optional(), deny: z.array(toolPattern()).optional() })
      .optional(),
    /** The MCP servers that the agent gets. Default: all. */
    mcp: z.array(name()).optional(),
    command: z.array(name()).nonempty().optional(),
    /** The ID of the agent in the ACP registry, instead of a command. */
    registry: name().optional(),
    /** Environment variables, in addition to those of Rookery itself. */
    env: z.record(z.string(), z.string()).optional(),
    /** The login method, if the ACP agent asks for one. */
    auth: name().optional(),
    /** What Rookery does for the ACP agent, inside the working directory and behind the permission gate. */
    serve: z.array(z.enum(["files", "terminals"])).optional(),
    /** The program's own mode: a permission mode, a sandbox, an approval mode. */
    mode: name().optional(),
    /** If true, the program gets a terminal. */
    pty: z.boolean().optional(),
    /** If true, the log keeps every JSON line of Claude Code as `agent.raw`. */
    raw: z.boolean().optional(),
    /**
     * Directories that the built-in agent's file tools may use in addition to the working directory, relative to this
     * configuration file.
     */
    folders: z.array(name()).optional(),
    /** Whether the agent may run programs that it writes. A table allows it with these limits. */
    code: z
      .union([
        z.boolean(),
        z.strictObject({
          /** CPU time in seconds. */
          time: z.number().positive().max(3_600).optional(),
          /** Total time in seconds, without waits for people. */
          total: z.number().positive().max(86_400).optional(),
          /** Memory in megabytes. */
          memory: z.int().positive().max(1_024).optional(),
          /** The number of tool calls. */
          calls: z.int().positive().max(10_000).optional(),
          /** The maximum number of printed characters, and of returned ones. */
          output: z.int().positive().max(1_000_000).optional(),
        }),
      ])
      .optional(),
    /** The maximum number of tasks that the agent runs at once. */
    max_running: z.int().positive().optional(),
    /** Environment variables with credentials that the agent, or the commands of the built-in agent, get. */
    pass_env: passEnv().optional(),
    /** How long a turn may be silent before it counts as stalled, in seconds; false means no limit. */
    stall: z
      .strictObject({ model: clock().optional(), tool: clock().optional(), progress: clock().optional() })
      .optional(),
    /** How long a turn may wait for a usage limit to reset, in seconds; 0 fails at once. */
    park_limit: z.number().nonnegative().optional(),
    /** For `command`: the path of the session ID in its JSON output, such as "session.id". */
    session_path: name().optional(),
    /** For `command`: the path of the message text in its JSON output. */
    text_path: name().optional(),
    /** For `command`: the command that resumes a known session. */
    resume_command: z.array(name()).nonempty().optional(),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    /** For the built-in agent: how much its model thinks. Default: chosen by the model. */
    effort: z.enum(EFFORTS).optional(),
    /** For the built-in agent: the context size of its model in tokens. Overrides the known size. */
    context: z.int().positive().optional(),
    /** For the built-in agent: how many times a model call is retried after a transient failure. Default: 5. */
    retries: z.int().nonnegative().max(20).optional(),
    /** For the built-in agent: the key under which the provider caches prompts. Default: the session ID. */
    cache_key: cacheKeyText().optional(),
    /** For the built-in agent: timeouts of tools in seconds, by tool name or prefix with `*`. */
    timeouts: z.record(name(), z.number().positive()).optional(),
    /** For the built-in agent: what it may use in one session before it asks a person for more. */
    budget: z
      .strictObject({
        tokens: z.int().positive().optional(),
        usd: z.number().positive().optional(),
        steps: z.int().positive().optional(),
        minutes: z.number().positive().optional(),
      })
      .optional(),
    /** For the built-in agent: limits for sub-agents; false disables them. */
    subagents: z
      .union([
        z.boolean(),
        z.strictObject({
          /** The maximum depth of nested sub-agents. */
          max_depth: z.int().min(1).max(10).optional(),
          /** The maximum number of sub-agents in one call. */
          max_width: z.int().min(1).max(100).optional(),
          /** The maximum number of running sub-agents of one session. */
          max_running: z.int().min(1).max(100).optional(),
          /** The budget of all sub-agents of one session. */
          budget_usd: z.number().positive().optional(),
          budget_tokens: z.int().positive().optional(),
        }),
      ])
      .optional(),
  });
export type AgentTable = z.infer<ReturnType<typeof agentTable>>;

const COMMAND_ONLY_KEYS = ["env", "cwd"] as const;
const URL_ONLY_KEYS = ["type", "headers", "oauth"] as const;

const serverFields = () => ({
  command: z.array(name()).nonempty().optional(),
  env: texts().optional(),
  /** Relative to the working directory of the session. Default: that directory. */
  cwd: name().optional(),
  url: name().optional(),
  type: z.enum(["http", "sse"]).optional(),
  headers: texts().optional(),
  oauth: z
    .strictObject({
      client_id: name().optional(),
      client_secret: name().optional(),
      scopes: z.array(name()).optional(),
      callback_port: z.int().min(1).max(65_535).optional(),
    })
    .optional(),
  /** The timeout of a call in seconds. Progress restarts it. */
  timeout: seconds().optional(),
  connect_timeout: seconds().optional(),
  /** If true, the model finds its tools by searching, regardless of their size. */
  defer: z.boolean().optional(),
  enabled: z.boolean().optional(),
});
type ServerFields = z.infer<z.ZodObject<ReturnType<typeof serverFields>>>;

/** The section `[mcp.NAME]`. Values may contain variables, which are expanded for each session. The URL is validated then. */
export const mcpTable = () => z.strictObject(serverFields()).superRefine(checkServer);

function checkServer(table: ServerFields, context: z.RefinementCtx): void {
  const { command, url } = table;
  if ((command === undefined) === (url === undefined)) context.addIssue("needs either command or url");
  for (const key of command === undefined ? COMMAND_ONLY_KEYS : URL_ONLY_KEYS) {
    const needed = command === undefined ? "command" : "url";
    if (table[key] !== undefined)
      context.addIssue({ code: "custom", path: [key], message: `is only valid with ${needed}` });
  }
}

const entityName = () =>
  z
    .string()
    .max(MAX_NAME_LENGTH)
    .regex(/^[\w.-]+$/, 'may contain only letters, digits, "-", "_" and "."')
    .refine((text) => text !== "__proto__", "this name cannot be used");
const MAX_NAME_LENGTH = 200;

const agentDefinition = () =>
  agentTable().extend({
    name: entityName(),
    prompts: z.array(z.union([name(), z.strictObject({ text: z.string() })])).optional(),
    mcp: z
      .array(
        z.union([entityName(), z.strictObject({ ...serverFields(), name: entityName() }).superRefine(checkServer)]),
      )
      .optional(),
  });

/**
 * An agent as a value: the keys of a section `[agents.NAME]` of `rookery.toml`, and its name. In addition, a prompt can
 * be a text, and an MCP server can be declared in place. Paths are relative to the working directory of the session. The
 * log keeps the value, so it must not contain secrets.
 */
export const AgentDefinition = z.lazy(agentDefinition);
export type AgentDefinition = z.infer<typeof AgentDefinition>;
