/** The schema of a `rookery.toml`. */
import { z } from "zod";
import { isRookerySecret } from "../domain/credentials.ts";
import { BACKEND_KINDS, MERGE_METHODS } from "../domain/enums.ts";
import { PermissionPolicy } from "../domain/events.ts";
import { EFFORTS, PROVIDER_KINDS } from "../domain/provider.ts";
import { BYTE_SIZE_RULE, parseByteSize } from "./byte-size.ts";

const name = z.string().min(1);

/** Ten times the price of the most expensive model. A price per token or per thousand tokens is below the minimum. */
const MAX_USD = 1000;

/** Rejects prices in a wrong unit, which is off by a factor of a thousand or a million. */
const usdPerMillionTokens = (least: number) =>
  z.number().superRefine((value, context) => {
    if (value === 0 || (value >= least && value <= MAX_USD)) return;
    const bounds = `0, or from ${least} to ${MAX_USD}`;
    context.addIssue(`${value} is not a plausible price (expected ${bounds}): the unit is USD per million tokens`);
  });

/** A tool by its name, by a prefix with `*`, or by its MCP hints. */
const ConfiguredToolPattern = z.union([
  name,
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
export type ConfiguredToolPattern = z.infer<typeof ConfiguredToolPattern>;

/** Names of environment variables. Rookery never passes on its own secrets, so naming one is a mistake. */
const passEnv = z.array(
  name.refine((variable) => !isRookerySecret(variable), "Rookery's own secrets are never passed to a program"),
);

const clock = z.union([z.number().positive(), z.literal(false)]);

const AgentTable = z.strictObject({
  backend: z.enum(BACKEND_KINDS).optional(),
  model: name.optional(),
  permissions: PermissionPolicy.optional(),
  /** Prompt files, relative to this configuration file. */
  prompts: z.array(name).optional(),
  tools: z
    .strictObject({ allow: z.array(ConfiguredToolPattern).optional(), deny: z.array(ConfiguredToolPattern).optional() })
    .optional(),
  /** The MCP servers that the agent gets. Default: all. */
  mcp: z.array(name).optional(),
  command: z.array(name).nonempty().optional(),
  /** The ID of the agent in the ACP registry, instead of a command. */
  registry: name.optional(),
  /** Environment variables, in addition to those of Rookery itself. */
  env: z.record(z.string(), z.string()).optional(),
  /** The login method, if the ACP agent asks for one. */
  auth: name.optional(),
  /** What Rookery does for the ACP agent, inside the working directory and behind the permission gate. */
  serve: z.array(z.enum(["files", "terminals"])).optional(),
  /** The program's own mode: a permission mode, a sandbox, an approval mode. */
  mode: name.optional(),
  /** If true, the program gets a terminal. */
  pty: z.boolean().optional(),
  /**
   * Directories that the built-in agent's file tools may use in addition to the working directory, relative to this
   * configuration file.
   */
  folders: z.array(name).optional(),
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
  pass_env: passEnv.optional(),
  /** How long a turn may be silent before it counts as stalled, in seconds; false means no limit. */
  stall: z.strictObject({ model: clock.optional(), tool: clock.optional(), progress: clock.optional() }).optional(),
  /** How long a turn may wait for a usage limit to reset, in seconds; 0 fails at once. */
  park_limit: z.number().nonnegative().optional(),
  /** For `command`: the path of the session ID in its JSON output, such as "session.id". */
  session_path: name.optional(),
  /** For `command`: the path of the message text in its JSON output. */
  text_path: name.optional(),
  /** For `command`: the command that resumes a known session. */
  resume_command: z.array(name).nonempty().optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** For the built-in agent: how much its model thinks. Default: chosen by the model. */
  effort: z.enum(EFFORTS).optional(),
  /** For the built-in agent: the context size of its model in tokens. Overrides the known size. */
  context: z.int().positive().optional(),
  /** For the built-in agent: how many times a model call is retried after a transient failure. Default: 5. */
  retries: z.int().nonnegative().max(20).optional(),
  /** For the built-in agent: timeouts of tools in seconds, by tool name or prefix with `*`. */
  timeouts: z.record(name, z.number().positive()).optional(),
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
export type AgentTable = z.infer<typeof AgentTable>;

const PriceTable = z.strictObject({
  input: usdPerMillionTokens(0.005),
  output: usdPerMillionTokens(0.005),
  cache_read: usdPerMillionTokens(0.0005).optional(),
  cache_write: usdPerMillionTokens(0.0005).optional(),
});
export type PriceTable = z.infer<typeof PriceTable>;

/** A model API: a new one, or overrides for a known one of the same name. */
const ProviderTable = z.strictObject({
  /** The protocol. Default: that of the known API of this name, or `openai-compatible`. */
  kind: z.enum(PROVIDER_KINDS).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The environment variable that contains the key. Keys themselves do not belong in a file. */
  key_env: z
    .string()
    .refine(
      (text) => /^[A-Za-z_]\w*$/.test(text),
      "must be the name of an environment variable that contains the key, not the key itself",
    )
    .optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** The context size of its models in tokens. */
  context: z.int().positive().optional(),
  /** Whether its models accept images. */
  images: z.boolean().optional(),
});
export type ProviderTable = z.infer<typeof ProviderTable>;

const seconds = z.number().positive();
const texts = z.record(z.string(), z.string());
const COMMAND_ONLY_KEYS = ["env", "cwd"] as const;
const URL_ONLY_KEYS = ["type", "headers", "oauth"] as const;

/** Values may contain variables, which are expanded for each session. The URL is validated then. */
const McpTable = z
  .strictObject({
    command: z.array(name).nonempty().optional(),
    env: texts.optional(),
    /** Relative to the working directory of the session. Default: that directory. */
    cwd: name.optional(),
    url: name.optional(),
    type: z.enum(["http", "sse"]).optional(),
    headers: texts.optional(),
    oauth: z
      .strictObject({
        client_id: name.optional(),
        client_secret: name.optional(),
        scopes: z.array(name).optional(),
        callback_port: z.int().min(1).max(65_535).optional(),
      })
      .optional(),
    /** The timeout of a call in seconds. Progress restarts it. */
    timeout: seconds.optional(),
    connect_timeout: seconds.optional(),
    /** If true, the model finds its tools by searching, regardless of their size. */
    defer: z.boolean().optional(),
    enabled: z.boolean().optional(),
  })
  .superRefine((table, context) => {
    const { command, url } = table;
    if ((command === undefined) === (url === undefined)) context.addIssue("needs either command or url");
    for (const key of command === undefined ? COMMAND_ONLY_KEYS : URL_ONLY_KEYS) {
      const needed = command === undefined ? "command" : "url";
      if (table[key] !== undefined)
        context.addIssue({ code: "custom", path: [key], message: `is only valid with ${needed}` });
    }
  });

const stageName = z.string().regex(/^[\w.-]+$/);
const back = {
  name: stageName.optional(),
  /** The stage to return to if this one does not pass. Default: none; the task fails. */
  back_to: stageName.optional(),
  /** How many times the stage may run. Default: 3 with `back_to`, otherwise 1. */
  tries: z.int().min(1).max(100).optional(),
};
const mergeHow = z.enum(MERGE_METHODS);
const STAGE_KINDS = ["agent", "run", "merge"] as const;

const StageTable = z
  .strictObject({
    ...back,
    agent: name.optional(),
    model: name.optional(),
    /** For an agent: its prompt. Default: the prompt of the task. */
    prompt: name.optional(),
    /** For an agent: a line that its last message must contain. */
    pass: name.optional(),
    /** A shell command that must exit with 0. */
    run: name.optional(),
    /** For a command: its timeout in seconds. */
    timeout: z.number().positive().optional(),
    merge: mergeHow.optional(),
    into: name.optional(),
    gate: name.optional(),
  })
  .superRefine((table, context) => {
    if (STAGE_KINDS.filter((key) => table[key] !== undefined).length !== 1) {
      context.addIssue(`needs exactly one of ${STAGE_KINDS.join(", ")}`);
    }
  });
export type StageTable = z.infer<typeof StageTable>;

/** A label of a worker, which tasks can require. */
const label = z.string().regex(/^[\w.-]{1,64}$/);

const serverName = z.string().regex(/^[\w.-]+$/);

export const ConfigTable = z.strictObject({
  defaults: z.strictObject({ agent: name.optional(), max_running: z.int().positive().optional() }).optional(),
  agents: z.record(z.string().regex(/^[\w.-]+$/), AgentTable).optional(),
  mcp: z.record(serverName, McpTable).optional(),
  tools: z
    .strictObject({
      /**
       * The size of tool schemas in characters above which the model finds tools by searching; 0 means always, false
       * means never.
       */
      defer_over: z.union([z.int().nonnegative(), z.literal(false)]).optional(),
    })
    .optional(),
  worktree: z
    .strictObject({
      /** A shell command that runs once in each new worktree. */
      setup: name.optional(),
      /** The timeout of `setup` in seconds. Default: 600. */
      setup_timeout: z.number().positive().optional(),
      /** Untracked files to copy, such as `.env`. */
      copy: z.array(name).optional(),
      /** Whether each worktree gets its own port. Default: true. */
      port: z.boolean().optional(),
      /** Variables with credentials that setup, stages and gates get. */
      pass_env: passEnv.optional(),
      /** The prefix of branch names, before the task ID. Default: `rookery/`. */
      branch_prefix: z
        .string()
        .regex(/^[\w][\w./-]*$/)
        .optional(),
      /** The disk quota of all worktrees of the repository in gigabytes, for `rookery task gc`. */
      quota_gb: z.number().nonnegative().optional(),
    })
    .optional(),
  pipelines: z.record(stageName, z.strictObject({ stages: z.array(StageTable).min(1).max(50) })).optional(),
  merge: z.strictObject({ how: mergeHow.optional(), gate: name.optional() }).optional(),
  limits: z
    .strictObject({
      per_repository: z.int().positive().optional(),
      providers: z.record(name, z.int().positive()).optional(),
    })
    .optional(),
  /** Only in the user's file. */
  store: z
    .strictObject({
      /** `postgres://user@host:port/database?sslmode=verify-full`. */
      url: name.optional(),
      /** The same database without a pooler, for notifications. Default: `url`. */
      listen_url: name.optional(),
      /** The schema of this installation. Default: `rookery`. */
      schema: name.optional(),
      /** A file with the password, relative to the configuration file. */
      password_file: name.optional(),
    })
    .optional(),
  /** Only in the user's file. */
  blobs: z
    .strictObject({
      /** `s3://bucket/prefix?endpoint=https://host&region=region&path_style=true`. */
      url: name.optional(),
      /** Larger blobs are stored at the URL, all others in the store. Default: `1MB`. */
      over: z
        .string()
        .refine((text) => parseByteSize(text) !== undefined, BYTE_SIZE_RULE)
        .optional(),
      /** A file with the keys in the format of the AWS command line, relative to the configuration file. */
      credentials_file: name.optional(),
    })
    .optional(),
  /** Only in the user's file. The environment variables of OpenTelemetry win. */
  telemetry: z
    .strictObject({
      /** The base URL of a collector that accepts OTLP/HTTP with JSON. */
      endpoint: z.url({ protocol: /^https?$/ }).optional(),
      service_name: name.optional(),
      traces: z.boolean().optional(),
      metrics: z.boolean().optional(),
      /** Whether spans contain prompts, replies, arguments and results. */
      content: z.boolean().optional(),
    })
    .optional(),
  /** Only in the user's file, like `worker` and `lease`. */
  host: z
    .strictObject({
      /** Names this machine among those that share a database. Default: derived from the host name and machine ID. */
      id: name.optional(),
      /** The folder for mirrors of remotes and the worktrees of their tasks. Default: in the home. */
      root: name.optional(),
      /** Whether every host can run a task whose repository has a remote. Default: `mirror`. */
      repositories: z.enum(["mirror", "pinned"]).optional(),
      /** How often the work of a running task is saved to the remote, in seconds. Default: 60. */
      save_interval: z.number().min(1).max(86_400).optional(),
    })
    .optional(),
  worker: z
    .strictObject({
      /** How many tasks one worker runs at once. Default: `defaults.max_running`. */
      max_running: z.int().positive().optional(),
      /** Takes only tasks of these agents. Default: all. */
      agents: z.array(name).nonempty().optional(),
      /** What this machine has that tasks can require. */
      labels: z.array(label).optional(),
      /** How long an interrupted task waits for its last host, in seconds. Default: 60. */
      prefer_last_host: z.number().nonnegative().max(86_400).optional(),
    })
    .optional(),
  lease: z
    .strictObject({
      /** How long a session or task of a dead host stays unavailable, in seconds. Default: 30. */
      ttl: z.number().min(1).max(3_600).optional(),
      /** How often a lease is renewed, in seconds. Default: a third of `ttl`. */
      renew: z.number().positive().optional(),
    })
    .optional(),
  prices: z.record(name, PriceTable).optional(),
  providers: z.record(z.string().regex(/^[\w.-]+$/), ProviderTable).optional(),
});
export type ConfigTable = z.infer<typeof ConfigTable>;
