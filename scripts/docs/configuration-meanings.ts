/**
 * Titles, meanings and defaults of the configuration reference. A key of the schema that is missing here fails `npm run
 * docs`.
 */

export interface ConfigurationSection {
  /** The keys of the section start with it. */
  readonly prefix: string;
  readonly title: string;
  readonly text: string;
}

export interface KeyMeaning {
  readonly meaning: string;
  /** The value if the key is absent. Empty: none. */
  readonly fallback?: string;
}

export const CONFIGURATION_TABLES: readonly ConfigurationSection[] = [
  { prefix: "defaults", title: "[defaults]", text: "Values for everything that names no other." },
  {
    prefix: "agents.NAME",
    title: "[agents.NAME]",
    text: "One agent. [Agents](../agents.md) explains the backends. Keys that a backend does not use have no effect.",
  },
  {
    prefix: "mcp.NAME",
    title: "[mcp.NAME]",
    text: "One MCP server: either `command` or `url`. Values may contain `$VAR`, `${VAR}`, `${VAR:-default}` and `${WORKSPACE}`. A table in the repository's file replaces the whole table of the same name in the user's file. See [MCP](../mcp.md).",
  },
  { prefix: "tools", title: "[tools]", text: "How tools are offered to models." },
  { prefix: "providers.NAME", title: "[providers.NAME]", text: "One model API: a new one, or changes to a known one." },
  {
    prefix: "prices.NAME",
    title: '[prices."PROVIDER/MODEL"]',
    text: "Prices in USD per million tokens. They override the built-in table. Each is 0 or a plausible number: at least 0.005 (0.0005 for the cache), at most 1000.",
  },
  { prefix: "worktree", title: "[worktree]", text: "How the worktree of a task is set up." },
  {
    prefix: "pipelines.NAME",
    title: "[pipelines.NAME]",
    text: "The stages of a task, 1 to 50. Each has exactly one of `agent`, `run` and `merge`. See [Tasks](../tasks.md).",
  },
  { prefix: "merge", title: "[merge]", text: "Defaults for `rookery task merge`." },
  { prefix: "limits", title: "[limits]", text: "How many tasks run at once, beside `defaults.max_running`." },
  {
    prefix: "store",
    title: "[store]",
    text: "Where the log is. Only the user's own file can set it. See [Operations](../operations.md).",
  },
  {
    prefix: "blobs",
    title: "[blobs]",
    text: "Where large blobs are. Only the user's own file can set it. See [Operations](../operations.md#large-blobs-in-s3).",
  },
  {
    prefix: "telemetry",
    title: "[telemetry]",
    text: "Where traces and metrics are exported. Only the user's own file can set it, and the variables of OpenTelemetry win over it. See [Operations](../operations.md#opentelemetry).",
  },
  {
    prefix: "host",
    title: "[host]",
    text: "This machine, among those that share a database. Only the user's own file can set it. See [Operations](../operations.md).",
  },
  {
    prefix: "worker",
    title: "[worker]",
    text: "What a worker on this machine takes. Only the user's own file can set it.",
  },
  {
    prefix: "lease",
    title: "[lease]",
    text: "Leases of sessions and tasks. Must be the same on all machines that share a database: the first worker records it there, and a worker with other values does not start. Only the user's own file can set it.",
  },
];

export const CONFIGURATION_KEYS: Readonly<Record<string, KeyMeaning>> = {
  "defaults.agent": {
    meaning: "The agent that is used if `--agent` names none.",
    fallback: "the first configured agent, or `anthropic`",
  },
  "defaults.max_running": {
    meaning: "How many tasks run at once, in all repositories. Only the user's own file can set it.",
    fallback: "4",
  },
  "telemetry.endpoint": {
    meaning: "The base URL of a collector that accepts OTLP over HTTP as JSON, such as `http://127.0.0.1:4318`.",
    fallback: "`OTEL_EXPORTER_OTLP_ENDPOINT`; nothing is exported without either",
  },
  "telemetry.service_name": {
    meaning: "The attribute `service.name` of everything that is exported.",
    fallback: "`rookery`",
  },
  "telemetry.traces": { meaning: "Whether spans are exported.", fallback: "true" },
  "telemetry.metrics": { meaning: "Whether metrics are exported.", fallback: "true" },
  "telemetry.content": {
    meaning: "Whether spans contain prompts, replies, and the arguments and results of tools.",
    fallback: "false",
  },
  "host.id": {
    meaning:
      "Names this machine. Set it if several containers or copies of one virtual machine share a database. The environment variable `ROOKERY_HOST_ID` overrides it.",
    fallback: "the host name and a part of the machine id",
  },
  "host.root": {
    meaning: "The folder for mirrors of remotes and the worktrees of their tasks. The same path on all hosts is best.",
    fallback: "the home",
  },
  "host.max_running": {
    meaning: "How many tasks all workers, servers and commands on this machine run at once.",
    fallback: "`defaults.max_running`",
  },
  "host.repositories": {
    meaning:
      '`"mirror"`: a task of a repository with a remote gets it from there, so that every host can run it. `"pinned"`: tasks that start here stay here, and tasks of other hosts do not run here.',
    fallback: '`"mirror"`',
  },
  "host.save_interval": {
    meaning: "How often the uncommitted work of a running task is saved to the remote, if it changed, in seconds.",
    fallback: "60",
  },
  "worker.max_running": {
    meaning: "How many tasks one worker on this machine runs at once.",
    fallback: "`defaults.max_running`",
  },
  "worker.agents": { meaning: "Workers on this machine take only tasks of these agents.", fallback: "all" },
  "worker.labels": { meaning: "What this machine has that tasks can require with `--label`." },
  "worker.prefer_last_host": {
    meaning: "How long other hosts leave an interrupted task to the host that ran it last, in seconds.",
    fallback: "60",
  },
  "lease.ttl": {
    meaning:
      "How long after its last renewal the sessions and tasks of a dead host stay unavailable, in seconds. A host that cannot renew stops its agents after five sixths of this time. An agent that ignores SIGTERM is killed 2 s later, so below 15 it may still run when another host continues.",
    fallback: "30",
  },
  "lease.renew": { meaning: "How often a lease is renewed, in seconds.", fallback: "a third of `lease.ttl`" },
  "store.url": {
    meaning:
      "A PostgreSQL database for the log: `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full`. The environment variable `ROOKERY_STORE_URL` overrides it.",
    fallback: "the file `rookery.db` in the home",
  },
  "store.listen_url": {
    meaning:
      "The same database without a connection pool such as PgBouncer, for notifications. The environment variable `ROOKERY_STORE_LISTEN_URL` overrides it.",
    fallback: "`store.url`",
  },
  "store.schema": {
    meaning:
      "The schema in the database, which is created if missing. Installations with different schemas do not see each other.",
    fallback: '`"rookery"`',
  },
  "store.password_file": {
    meaning:
      "A file with the password, relative to the configuration file. A password in the URL and the variables `ROOKERY_STORE_PASSWORD` and `PGPASSWORD` win.",
    fallback: "none",
  },
  "blobs.url": {
    meaning:
      "An S3-compatible bucket for large blobs: `s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION&path_style=true`. The environment variable `ROOKERY_BLOBS_URL` overrides it.",
    fallback: "none: all blobs are in the store",
  },
  "blobs.over": {
    meaning:
      "Larger blobs are stored in the bucket, all others in the store. With a unit: `B`, `KB`, `MB`, `KiB` or `MiB`. The environment variable `ROOKERY_BLOBS_OVER` overrides it.",
    fallback: '`"1MB"`',
  },
  "blobs.credentials_file": {
    meaning:
      "A file with the keys, relative to the configuration file, in the format of the AWS command line. `ROOKERY_BLOBS_ACCESS_KEY_ID` and `ROOKERY_BLOBS_SECRET_ACCESS_KEY` win over it.",
    fallback: "none: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`",
  },
  "agents.NAME.backend": {
    meaning:
      'How the agent is driven: `"api"`, `"claude-code"`, `"codex"`, `"gemini-cli"`, `"opencode"`, `"acp"`, `"command"`, or the name of a registered backend.',
    fallback: '`"api"`',
  },
  "agents.NAME.model": {
    meaning: "For `api`, `provider/model`. For a program, a model that it knows.",
    fallback: "the program's own",
  },
  "agents.NAME.permissions": {
    meaning: "The permission policy. See [Permissions](../permissions.md).",
    fallback: '`"ask"`',
  },
  "agents.NAME.prompts": {
    meaning:
      "Files that are added to the agent's instructions, relative to the configuration file. A repository's files must be inside the repository.",
    fallback: "none",
  },
  "agents.NAME.tools.allow": {
    meaning:
      'Tools that the agent has: names, prefixes such as `"files__*"`, or hints such as `{ readOnly = true }`. Hints: `readOnly`, `destructive`, `idempotent`, `openWorld`.',
    fallback: "all",
  },
  "agents.NAME.tools.deny": { meaning: "Tools that the agent does not have. Applied after `allow`.", fallback: "none" },
  "agents.NAME.mcp": { meaning: "Names of the MCP servers that the agent gets.", fallback: "all" },
  "agents.NAME.command": {
    meaning:
      "The program and its arguments, run without a shell. For `command`, the placeholders `{prompt}`, `{session}`, `{model}` and `{cwd}` are replaced, and in tasks `{task}`, `{branch}`, `{base}`, `{worktree}` and `{port}`. For the named programs, it replaces the program that is found.",
  },
  "agents.NAME.registry": { meaning: "For `acp`, instead of `command`: an id of the ACP registry." },
  "agents.NAME.env": { meaning: "Variables that are added to the program's environment.", fallback: "none" },
  "agents.NAME.auth": { meaning: "For `acp`: the id of the authentication method to use." },
  "agents.NAME.serve": {
    meaning:
      "For `acp`: what Rookery does for the agent if it asks, inside the working directory and behind the permissions.",
    fallback: "nothing",
  },
  "agents.NAME.mode": {
    meaning:
      "The mode that the program starts in, by its own name: a permission mode (Claude Code), a sandbox (Codex), an approval mode (Gemini CLI), an agent (opencode).",
    fallback: "the program's own",
  },
  "agents.NAME.raw": {
    meaning:
      "For `claude-code`: keep every JSON line of the program in the log as `agent.raw`, not only those that Rookery does not know. A `command` agent keeps all of its JSON lines anyway.",
    fallback: "`false`",
  },
  "agents.NAME.pty": {
    meaning: "For `command` and `claude-code`: run the program in a terminal.",
    fallback: "`false`",
  },
  "agents.NAME.folders": {
    meaning:
      "For `api`: directories that the file tools can use beside the working directory, relative to the configuration file.",
    fallback: "none",
  },
  "agents.NAME.code": {
    meaning:
      "For `api`: whether the model may write and run programs that call its tools. A table enables it with other limits.",
    fallback: "`false`",
  },
  "agents.NAME.code.time": { meaning: "Computing time in seconds.", fallback: "10" },
  "agents.NAME.code.total": { meaning: "Time from start to end in seconds, without tool calls.", fallback: "1800" },
  "agents.NAME.code.memory": { meaning: "Memory in MB.", fallback: "64" },
  "agents.NAME.code.calls": { meaning: "Number of tool calls.", fallback: "200" },
  "agents.NAME.code.output": { meaning: "Characters that it prints, and as many that it returns.", fallback: "20000" },
  "agents.NAME.max_running": { meaning: "How many tasks of this agent run at once.", fallback: "no limit" },
  "agents.NAME.pass_env": {
    meaning:
      "Names of variables that the program, or a command of the built-in agent, gets even though they hold credentials.",
    fallback: "none",
  },
  "agents.NAME.stall.model": {
    meaning: "Seconds without any output while no tool runs, until the turn ends as `stalled`. `false`: never.",
    fallback: "300",
  },
  "agents.NAME.stall.tool": {
    meaning:
      "Seconds without any output while a tool runs, until the turn ends as `stalled`. A process of the tool that uses the processor counts as output.",
    fallback: "1800",
  },
  "agents.NAME.stall.progress": {
    meaning: "Seconds with output that does not advance the turn, until it ends as `stalled`.",
    fallback: "3600",
  },
  "agents.NAME.park_limit": {
    meaning: "The longest wait for a usage limit to pass, in seconds. `0`: the turn fails at once.",
    fallback: "21600",
  },
  "agents.NAME.session_path": {
    meaning: 'For `command`: where a JSON line has the id of the program\'s session, such as `"session.id"`.',
  },
  "agents.NAME.text_path": { meaning: 'For `command`: where a JSON line has the text, such as `"items.0.text"`.' },
  "agents.NAME.resume_command": {
    meaning: "For `command`: the command that continues a session of the program, with the same placeholders.",
  },
  "agents.NAME.base_url": {
    meaning: "For `api`: the address of the API. Overrides the provider's and its variable.",
    fallback: "the provider's",
  },
  "agents.NAME.effort": { meaning: "For `api`: how much the model reasons.", fallback: "the model's own" },
  "agents.NAME.context": { meaning: "For `api`: the context size in tokens.", fallback: "known per model" },
  "agents.NAME.retries": {
    meaning: "For `api`: how often a request is retried after a failure that may pass.",
    fallback: "5",
  },
  "agents.NAME.cache_key": {
    meaning:
      "For `api`: the key under which OpenAI and xAI cache prompts. Sessions with the same key share the cache of what their prompts begin with.",
    fallback: "the ID of the session",
  },
  "agents.NAME.timeouts": {
    meaning:
      'For `api`: seconds that a tool may take, by name or prefix: `{ "*" = 600, grep = 20, "github__*" = 60 }`.',
    fallback: "1800",
  },
  "agents.NAME.budget.tokens": { meaning: "For `api`: tokens per session before a person is asked for more." },
  "agents.NAME.budget.usd": { meaning: "For `api`: USD per session." },
  "agents.NAME.budget.steps": { meaning: "For `api`: model replies per session." },
  "agents.NAME.budget.minutes": { meaning: "For `api`: minutes of work per session. Waiting does not count." },
  "agents.NAME.subagents": {
    meaning: "For `api`: whether the agent can delegate to sub-agents. A table sets limits.",
    fallback: "`true`",
  },
  "agents.NAME.subagents.max_depth": { meaning: "How deep sub-agents of sub-agents go.", fallback: "2" },
  "agents.NAME.subagents.max_width": { meaning: "Tasks in one call.", fallback: "8" },
  "agents.NAME.subagents.max_running": { meaning: "Sub-agents of one session that run at once.", fallback: "4" },
  "agents.NAME.subagents.budget_usd": { meaning: "USD for all sub-agents of one session.", fallback: "no limit" },
  "agents.NAME.subagents.budget_tokens": { meaning: "Tokens for all sub-agents of one session.", fallback: "no limit" },
  "mcp.NAME.command": { meaning: "A server on stdio: the program and its arguments, run without a shell." },
  "mcp.NAME.env": {
    meaning: "With `command`: variables that are added to the server's environment.",
    fallback: "none",
  },
  "mcp.NAME.cwd": {
    meaning: "With `command`: the working directory, relative to the session's.",
    fallback: "the session's",
  },
  "mcp.NAME.url": { meaning: "A remote server." },
  "mcp.NAME.type": { meaning: "With `url`: the transport.", fallback: '`"http"` (streamable HTTP)' },
  "mcp.NAME.headers": { meaning: "With `url`: headers of every request.", fallback: "none" },
  "mcp.NAME.oauth.client_id": { meaning: "The OAuth client.", fallback: "registered dynamically" },
  "mcp.NAME.oauth.client_secret": { meaning: "The OAuth client's secret." },
  "mcp.NAME.oauth.scopes": { meaning: "Scopes to ask for.", fallback: "the server's" },
  "mcp.NAME.oauth.callback_port": { meaning: "The port of the login callback.", fallback: "a free port" },
  "mcp.NAME.timeout": { meaning: "Seconds that a call may be silent. Progress restarts them.", fallback: "60" },
  "mcp.NAME.connect_timeout": { meaning: "Seconds until a connection attempt fails.", fallback: "30" },
  "mcp.NAME.defer": {
    meaning: "The model gets a search instead of this server's tool definitions, however few they are.",
    fallback: "`false`",
  },
  "mcp.NAME.enabled": { meaning: "`false` ignores the server.", fallback: "`true`" },
  "tools.defer_over": {
    meaning: "Characters of tool definitions above which the model gets a search instead. `0`: always. `false`: never.",
    fallback: "60000",
  },
  "worktree.setup": { meaning: "A shell command that runs once in each new worktree." },
  "worktree.setup_timeout": { meaning: "Seconds that the setup may take.", fallback: "600" },
  "worktree.copy": { meaning: 'Untracked files to copy into each worktree, such as `[".env"]`.', fallback: "none" },
  "worktree.port": {
    meaning: "Whether each task gets a free port, which no other task of the machine gets until it ends.",
    fallback: "`true`",
  },
  "worktree.pass_env": {
    meaning: "Names of variables that setup, stages and gates get even though they hold credentials.",
    fallback: "none",
  },
  "worktree.branch_prefix": { meaning: "The start of each task's branch name.", fallback: '`"rookery/"`' },
  "worktree.quota_gb": { meaning: "The size that `rookery task gc` reduces all worktrees of the repository to." },
  "pipelines.NAME.stages": { meaning: "The stages, in order." },
  "pipelines.NAME.stages.name": { meaning: "The stage's name, for `back_to` and the log." },
  "pipelines.NAME.stages.back_to": {
    meaning: "The stage to return to if this one does not pass.",
    fallback: "none: the task fails",
  },
  "pipelines.NAME.stages.tries": {
    meaning: "How often the stage may run.",
    fallback: "3 with `back_to`, otherwise 1",
  },
  "pipelines.NAME.stages.agent": { meaning: "An agent stage: the agent." },
  "pipelines.NAME.stages.model": { meaning: "Of an agent stage: the model.", fallback: "the agent's" },
  "pipelines.NAME.stages.prompt": {
    meaning:
      "Of an agent stage: the prompt. `{prompt}`, `{feedback}`, `{base}` (the commit that the task started from), `{task}`, `{branch}`, `{worktree}` and `{port}` are replaced.",
    fallback: "the task's",
  },
  "pipelines.NAME.stages.pass": { meaning: "Of an agent stage: a line that the agent's last message must have." },
  "pipelines.NAME.stages.run": { meaning: "A command stage: a shell command that must exit with 0." },
  "pipelines.NAME.stages.timeout": { meaning: "Of a command stage: seconds that it may take.", fallback: "1800" },
  "pipelines.NAME.stages.merge": { meaning: "A merge stage: how to merge." },
  "pipelines.NAME.stages.into": {
    meaning: "Of a merge stage: the branch.",
    fallback: "the branch that the task started from",
  },
  "pipelines.NAME.stages.gate": {
    meaning: "Of a merge stage: a command that must pass on the result.",
    fallback: "`merge.gate`",
  },
  "merge.how": { meaning: "How to merge.", fallback: '`"merge"`' },
  "merge.gate": {
    meaning: "A shell command that must pass on the merged result before anything changes.",
    fallback: "none",
  },
  "limits.per_repository": { meaning: "Tasks of one repository.", fallback: "no limit" },
  "limits.providers": { meaning: "Tasks per provider account, such as `{ anthropic = 2 }`.", fallback: "no limit" },
  "prices.NAME.input": { meaning: "Input tokens. Required." },
  "prices.NAME.output": { meaning: "Output tokens. Required." },
  "prices.NAME.cache_read": { meaning: "Tokens read from a cache.", fallback: "`input`" },
  "prices.NAME.cache_write": { meaning: "Tokens written to a cache.", fallback: "`input`" },
  "providers.NAME.kind": {
    meaning: "The protocol.",
    fallback: 'that of the known provider of this name, otherwise `"openai-compatible"`',
  },
  "providers.NAME.base_url": { meaning: "The address, with or without the version.", fallback: "the known provider's" },
  "providers.NAME.key_env": {
    meaning: "The name of the variable that holds the key.",
    fallback: "the known provider's",
  },
  "providers.NAME.headers": { meaning: "Headers of every request.", fallback: "none" },
  "providers.NAME.context": { meaning: "The context size of its models in tokens.", fallback: "known per model" },
  "providers.NAME.images": { meaning: "Whether its models accept images.", fallback: "known per model" },
};
