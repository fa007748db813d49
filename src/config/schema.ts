/** What may stand in a `rookery.toml`. */
import { z } from "zod";
import { BACKEND_KINDS } from "../domain/backend.ts";
import { isRookerySecret } from "../domain/credentials.ts";
import { MERGE_METHODS } from "../domain/enums.ts";
import { PermissionPolicy } from "../domain/events.ts";
import { EFFORTS, PROVIDER_KINDS } from "../domain/provider.ts";

const name = z.string().min(1);

/** The dearest model costs a tenth of it; what is said per token or per thousand tokens is below the least. */
const MAX_USD = 1000;

/** A wrong unit is off by a thousand or a million, and would be found out on a bill. */
const usdPerMillionTokens = (least: number) =>
  z.number().superRefine((value, context) => {
    if (value === 0 || (value >= least && value <= MAX_USD)) return;
    const bounds = `0, or from ${least} to ${MAX_USD}`;
    context.addIssue(
      `${value} is not what a million tokens cost in USD (${bounds}): the unit is USD per million tokens`,
    );
  });

/** A tool by its name, by the beginning of its name and a `*`, or by what it says of itself, as MCP spells it. */
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

/** Names of variables. Rookery gives its own token to nobody, so naming that is a mistake. */
const passEnv = z.array(
  name.refine((variable) => !isRookerySecret(variable), "a secret of Rookery is passed to no program"),
);

const clock = z.union([z.number().positive(), z.literal(false)]);

const AgentTable = z.strictObject({
  backend: z.enum(BACKEND_KINDS).optional(),
  model: name.optional(),
  permissions: PermissionPolicy.optional(),
  /** Files, relative to the one that names them. */
  prompts: z.array(name).optional(),
  tools: z.strictObject({ allow: z.array(ConfiguredToolPattern).optional(), deny: z.array(ConfiguredToolPattern).optional() }).optional(),
  /** Which of the MCP servers it gets; all if not said. */
  mcp: z.array(name).optional(),
  command: z.array(name).nonempty().optional(),
  /** Instead of a command: what the registry of ACP agents calls it. */
  registry: name.optional(),
  /** Beside the environment that Rookery itself has. */
  env: z.record(z.string(), z.string()).optional(),
  /** The way to log in, where an ACP agent asks for one. */
  auth: name.optional(),
  /** What is done here for an ACP agent, within the folder and behind the permissions, instead of by itself. */
  serve: z.array(z.enum(["files", "terminals"])).optional(),
  /** What its program calls a way to work: a permission mode, a sandbox, an approval mode. */
  mode: name.optional(),
  /** Its program gets a terminal, for set-ups that need one. */
  pty: z.boolean().optional(),
  /** What the built-in agent's file tools reach beside the working folder; relative to the file that names them. */
  folders: z.array(name).optional(),
  /** May it run programs that it writes? A table says so too, with other limits than usual. */
  code: z
    .union([
      z.boolean(),
      z.strictObject({
        /** Seconds of computing. */
        time: z.number().positive().max(3_600).optional(),
        /** Seconds from the beginning to the end, whatever it waits for but people. */
        total: z.number().positive().max(86_400).optional(),
        /** Megabytes. */
        memory: z.int().positive().max(1_024).optional(),
        /** Of tools. */
        calls: z.int().positive().max(10_000).optional(),
        /** Characters that are printed, and as many that are returned. */
        output: z.int().positive().max(1_000_000).optional(),
      }),
    ])
    .optional(),
  /** How many tasks it may have at once. */
  max_running: z.int().positive().optional(),
  /** Variables of the environment that it, or what the built-in agent runs, gets although they hold credentials. */
  pass_env: passEnv.optional(),
  /** How long nothing may come before a turn counts as stalled, in seconds; false: for ever. */
  stall: z.strictObject({ model: clock.optional(), tool: clock.optional(), progress: clock.optional() }).optional(),
  /** How long a turn may wait for a usage limit to end, in seconds; 0: it fails at once. */
  park_limit: z.number().nonnegative().optional(),
  /** For a `command`: where its JSON has the id of its session, such as "session.id". */
  session_path: name.optional(),
  /** For a `command`: where its JSON has what it says. */
  text_path: name.optional(),
  /** For a `command`: what starts it for a session that it knows. */
  resume_command: z.array(name).nonempty().optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** For the built-in agent: how much its model is to think; what the model chooses if not said. */
  effort: z.enum(EFFORTS).optional(),
  /** For the built-in agent: how many tokens its model takes, over what is known of it. */
  context: z.int().positive().optional(),
  /** For the built-in agent: how often its model is asked again after a failure that may pass; 5 if not said. */
  retries: z.int().nonnegative().max(20).optional(),
  /** For the built-in agent: how long a tool may take, in seconds, by its name or the beginning of its name and a `*`. */
  timeouts: z.record(name, z.number().positive()).optional(),
  /** For the built-in agent: what it may use in one session before a person is asked for more. */
  budget: z
    .strictObject({
      tokens: z.int().positive().optional(),
      usd: z.number().positive().optional(),
      steps: z.int().positive().optional(),
      minutes: z.number().positive().optional(),
    })
    .optional(),
  /** For the built-in agent: whom it may give tasks to, and how many; false: nobody. */
  subagents: z
    .union([
      z.boolean(),
      z.strictObject({
        /** How deep children of children go. */
        max_depth: z.int().min(1).max(10).optional(),
        /** In one call. */
        max_width: z.int().min(1).max(100).optional(),
        /** Of one session, at once. */
        max_running: z.int().min(1).max(100).optional(),
        /** What all of one session may use. */
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

/** A model API: a new one, or what is otherwise with one that is known by its name. */
const ProviderTable = z.strictObject({
  /** What it speaks; that of the known one of its name, or as OpenAI does. */
  kind: z.enum(PROVIDER_KINDS).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  /** The variable that holds its key: a key itself has no place in a file. */
  key_env: z
    .string()
    .refine((text) => /^[A-Za-z_]\w*$/.test(text), "is the name of a variable that holds the key, not the key")
    .optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** How many tokens its models take. */
  context: z.int().positive().optional(),
  /** Do its models take images? */
  images: z.boolean().optional(),
});
export type ProviderTable = z.infer<typeof ProviderTable>;

const seconds = z.number().positive();
const texts = z.record(z.string(), z.string());
const COMMAND_ONLY_KEYS = ["env", "cwd"] as const;
const URL_ONLY_KEYS = ["type", "headers", "oauth"] as const;

/** Its texts may hold variables, which are filled in for each session: a URL is looked at then. */
const McpTable = z
  .strictObject({
    command: z.array(name).nonempty().optional(),
    env: texts.optional(),
    /** Relative to the working folder of the session, and that folder if not said. */
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
    /** How long a call may be silent. */
    timeout: seconds.optional(),
    connect_timeout: seconds.optional(),
    /** Its tools are found by searching, whatever their size. */
    defer: z.boolean().optional(),
    enabled: z.boolean().optional(),
  })
  .superRefine((table, context) => {
    const { command, url } = table;
    if ((command === undefined) === (url === undefined)) context.addIssue("needs either command or url");
    for (const key of command === undefined ? COMMAND_ONLY_KEYS : URL_ONLY_KEYS) {
      const needed = command === undefined ? "command" : "url";
      if (table[key] !== undefined)
        context.addIssue({ code: "custom", path: [key], message: `is for a server with ${needed}` });
    }
  });

const stageName = z.string().regex(/^[\w.-]+$/);
const back = {
  name: stageName.optional(),
  /** The stage to go back to when this one does not pass; without it the task fails then. */
  back_to: stageName.optional(),
  /** How often the stage may be gone through; 3 if it can go back, once if not. */
  tries: z.int().min(1).max(100).optional(),
};
const mergeHow = z.enum(MERGE_METHODS);
const STAGE_KINDS = ["agent", "run", "merge"] as const;

const StageTable = z
  .strictObject({
    ...back,
    agent: name.optional(),
    model: name.optional(),
    /** For an agent: what it is told instead of the task's prompt. */
    prompt: name.optional(),
    /** For an agent: what its last message must hold. */
    pass: name.optional(),
    /** A command for the shell that must end well. */
    run: name.optional(),
    /** For a command: seconds. */
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

const serverName = z.string().regex(/^[\w.-]+$/);

export const ConfigTable = z.strictObject({
  defaults: z.strictObject({ agent: name.optional(), max_running: z.int().positive().optional() }).optional(),
  agents: z.record(z.string().regex(/^[\w.-]+$/), AgentTable).optional(),
  mcp: z.record(serverName, McpTable).optional(),
  tools: z
    .strictObject({
      /** Characters of tools' schemas past which tools are found by searching; 0: always; false: never. */
      defer_over: z.union([z.int().nonnegative(), z.literal(false)]).optional(),
    })
    .optional(),
  worktree: z
    .strictObject({
      /** A command for the shell, run once in each new worktree. */
      setup: name.optional(),
      /** In seconds; 600 if not said. */
      setup_timeout: z.number().positive().optional(),
      /** Files that git does not know, such as `.env`. */
      copy: z.array(name).optional(),
      /** Does each get a port of its own? True if not said. */
      port: z.boolean().optional(),
      /** Variables that set-up, stages and gates get although they hold credentials. */
      pass_env: passEnv.optional(),
      /** Before the task's id; `rookery/` if not said. */
      branch_prefix: z
        .string()
        .regex(/^[\w][\w./-]*$/)
        .optional(),
      /** Gigabytes that all worktrees of the repository may have, for `rookery task gc`. */
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
  prices: z.record(name, PriceTable).optional(),
  providers: z.record(z.string().regex(/^[\w.-]+$/), ProviderTable).optional(),
});
export type ConfigTable = z.infer<typeof ConfigTable>;
