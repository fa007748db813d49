/** The schema of a `rookery.toml`. */
import { z } from "zod";
import { agentTable, mcpTable, passEnv } from "../domain/agent-table.ts";
import { MERGE_METHODS } from "../domain/enums.ts";
import { PROVIDER_KINDS } from "../domain/provider.ts";
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
  agents: z.record(z.string().regex(/^[\w.-]+$/), agentTable()).optional(),
  mcp: z.record(serverName, mcpTable()).optional(),
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
      pass_env: passEnv().optional(),
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
      /** How many tasks all workers and servers of this machine run at once. Default: `defaults.max_running`. */
      max_running: z.int().positive().optional(),
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
