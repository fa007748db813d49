/** Starts an ACP agent and opens its session. */
import { childEnvironment } from "../../domain/child-environment.ts";
import {
  RookeryError,
  isRookeryError,
  messageOf,
  type BackendContext,
  type McpServerSpec,
} from "../../domain/index.ts";
import { deadline, didYouMean, DisposeStack } from "../../stdx/index.ts";
import {
  connectClient,
  declarationOfSpec,
  PeerError,
  RPC,
  serveFiles,
  serveTerminals,
  startAgent,
  type AgentProcess,
  type Client,
  type ClientSession,
  type Gate,
  type Noise,
  type SessionOptions,
} from "../../acp/index.ts";
import type { NativeSession, NativeSessionOrigin } from "../program/index.ts";
import { readOfferedModels, readOfferedModes, findConfigOption, type OfferedOption } from "./offered-options.ts";
import { formatAcpLoginError, formatPeerError } from "./outcome.ts";
import { detectAccountProblem } from "./account-problem.ts";

export interface LiveAcpOptions {
  readonly context: BackendContext;
  /** MCP servers for the agent. */
  readonly servers: readonly McpServerSpec[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Id of the authentication method to use if the agent requires a login. */
  readonly auth?: string | undefined;
  /** What this process does on the agent's behalf. */
  readonly serve: readonly ("files" | "terminals")[];
  /** The environment of commands in the agent's terminals. Default: `env` without credentials. */
  readonly commandEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** The agent's earlier session, to resume or fork. */
  readonly native: NativeSession | undefined;
  readonly handlers: SessionOptions;
  readonly gate: Gate;
  readonly noise: (noise: Noise) => void;
  /** Cancels the start and ends the process. */
  readonly signal?: AbortSignal | undefined;
  /** Deadline of the start in milliseconds. Default: 2 min. */
  readonly startMs?: number | undefined;
}

export interface LiveAcpAgent extends AsyncDisposable {
  readonly process: AgentProcess;
  readonly client: Client;
  readonly session: ClientSession;
  /** A `new` session may need the earlier conversation in its first prompt. */
  readonly how: NativeSessionOrigin;
  /** Why the agent did not resume its earlier session. */
  readonly lost?: string | undefined;
}

/** The first start through `npx` downloads the agent. */
const START_MS = 120_000;
/** Gemini CLI 0.61 destroys its history when it loads a session twice, or within the first minute. */
const LOSES_HISTORY_ON_LOAD: ReadonlySet<string> = new Set(["gemini-cli", "gemini"]);

/** Rejects with `agent_unavailable`, `agent_failed` or `provider_auth`, or with the signal's reason. */
export async function startLiveAcpAgent(options: LiveAcpOptions): Promise<LiveAcpAgent> {
  const { context, command, env, startMs = START_MS } = options;
  const { agent, cwd, marker } = context;
  await using opening = new DisposeStack();
  const process = opening.use(await startAgent({ command, cwd, env, marker }));
  using late = deadline(startMs, ...(options.signal === undefined ? [] : [options.signal]));
  const { signal } = late;
  const stop = (): void => void process.close({ eofMs: 0 }).catch(() => undefined); // a process that survives is found later by its marker
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const live = await connectAcpAgent(process, options, opening);
    signal.throwIfAborted();
    const owned = opening.move();
    return { ...live, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
  } catch (error) {
    if (late.isLate) throw startTimeoutError(agent.name, startMs, process.stderrTail);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function startTimeoutError(agent: string, ms: number, said: string): RookeryError {
  const words = said.trim() === "" ? "it printed nothing to stderr" : `its last output was: ${said.trim()}`;
  return new RookeryError("agent_failed", `${agent} did not start within ${ms / 1_000} s: ${words}`);
}

async function connectAcpAgent(
  process: AgentProcess,
  options: LiveAcpOptions,
  opening: DisposeStack,
): Promise<Omit<LiveAcpAgent, typeof Symbol.asyncDispose>> {
  const { context, env, commandEnv = childEnvironment(env), serve, gate } = options;
  const { agent, cwd, marker } = context;
  const files = serve.includes("files") ? serveFiles({ roots: [cwd], gate }) : undefined;
  const terminals = serve.includes("terminals")
    ? opening.use(serveTerminals({ roots: [cwd], env: commandEnv, marker, gate }))
    : undefined;
  const client = opening.use(
    await connectClient({
      transport: process.transport,
      exit: () => process.exit(),
      peer: agent.name,
      info: { name: "rookery", version: "0.1.0" },
      onNoise: options.noise,
      serve: {
        ...options.handlers,
        ...files,
        ...(terminals !== undefined && { terminal: terminals }),
      },
    }).catch((error: unknown) => {
      throw toStartError(agent.name, error);
    }),
  );
  const native = await openNativeSession(client, options)
    .then(async (opened) => {
      if (agent.model !== undefined) await chooseModel(opened.session, agent.model, opened.how);
      if (agent.mode !== undefined) await chooseMode(opened.session, agent.mode, opened.how);
      return opened;
    })
    .catch((error: unknown) => {
      throw toStartError(agent.name, error);
    });
  return { process, client, ...native };
}

/** Resumes, loads or forks the agent's own session if the agent supports that safely; otherwise creates one. */
async function openNativeSession(
  client: Client,
  options: LiveAcpOptions,
): Promise<Pick<LiveAcpAgent, "session" | "how" | "lost">> {
  const { context, native } = options;
  const builder = () => {
    const made = client.session(context.cwd);
    for (const spec of options.servers) {
      const server = declarationOfSpec(spec);
      if (server !== undefined) made.mcpServer(server);
    }
    return made;
  };
  if (native === undefined)
    return { session: await retryAfterLogin(client, options, () => builder().create()), how: "new" };
  const how = native.as === "fork" ? findForkMethod(client) : findResumeMethod(client);
  let lost: string | undefined;
  if (how !== undefined) {
    const again = () => builder()[METHODS[how]](native.id);
    const session = await retryAfterLogin(client, options, again).catch((error: unknown) => {
      if (!(error instanceof PeerError) || error.code === RPC.authRequired) throw error;
      lost = formatPeerError(error);
    });
    if (session !== undefined) return { session, how };
  }
  return { session: await retryAfterLogin(client, options, () => builder().create()), how: "new", lost };
}

const METHODS = { resumed: "resume", loaded: "load", forked: "fork" } as const;

export function findForkMethod({ capabilities }: Pick<Client, "capabilities">): "forked" | undefined {
  const { fork } = (capabilities.sessionCapabilities ?? {}) as { fork?: unknown };
  return fork == null ? undefined : "forked";
}

function findResumeMethod({ capabilities, agent }: Client): "resumed" | "loaded" | undefined {
  if (capabilities.sessionCapabilities?.resume != null) return "resumed";
  const name = agent.agentInfo?.name ?? "";
  return capabilities.loadSession === true && !LOSES_HISTORY_ON_LOAD.has(name) ? "loaded" : undefined;
}

async function retryAfterLogin<T>(
  client: Client,
  { auth, context }: LiveAcpOptions,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof PeerError) || error.code !== RPC.authRequired) throw error;
    const methods = client.authMethods.map(({ id, name }) => `${id} (${name})`).join(", ");
    if (auth === undefined) {
      const fix = `log in with the program's own command, or set auth = "…" under [agents.${context.agent.name}]`;
      throw new RookeryError(
        "provider_auth",
        `${context.agent.name} requires a login: ${fix}; methods it offers: ${methods || "none"}`,
      );
    }
    await client.authenticate(auth).catch((cause: unknown) => {
      throw new RookeryError(
        "provider_auth",
        `${context.agent.name}: the login "${auth}" failed: ${messageOf(cause)}; methods it offers: ${methods}`,
        { cause },
      );
    });
    return open();
  }
}

/** Sets the model through a config option, or through `session/set_model` of the older protocol. */
async function chooseModel(session: ClientSession, model: string, how: LiveAcpAgent["how"]): Promise<void> {
  const option = findSessionOption(session, "model");
  if (option !== undefined) {
    if (!option.values.includes(model)) throw unknownModelError(model, option.values);
    await session.setConfigOption(option.id, model);
    return;
  }
  const offered = readOfferedModels(session.response);
  if (offered.length === 0 && how !== "new") return; // some agents omit their offers when they resume
  if (!offered.includes(model)) throw unknownModelError(model, offered);
  await session.setModel(model);
}

/** The models that the agent offers in its setup response. */
export function listOfferedModels(session: ClientSession): readonly string[] {
  return findSessionOption(session, "model")?.values ?? readOfferedModels(session.response);
}

const MAX_LISTED_MODELS = 10;

/** Names only a few: opencode knows hundreds of models. */
function unknownModelError(model: string, offered: readonly string[]): RookeryError {
  const more = offered.length - MAX_LISTED_MODELS;
  const names = offered.slice(0, MAX_LISTED_MODELS).join(", ") + (more > 0 ? `, and ${more} more` : "");
  const there = offered.length === 0 ? "it does not let clients choose a model" : `available models: ${names}`;
  return new RookeryError("model_invalid", `this agent has no model "${model}"${didYouMean(model, offered)}; ${there}`);
}

/** Sets the mode through a config option, or through `session/set_mode` of the older protocol. */
async function chooseMode(session: ClientSession, mode: string, how: LiveAcpAgent["how"]): Promise<void> {
  const option = findSessionOption(session, "mode");
  const offered = option?.values ?? readOfferedModes(session.response);
  if (offered.length === 0 && how !== "new") return;
  if (!offered.includes(mode)) {
    const there = offered.length === 0 ? "it has no modes" : `available modes: ${offered.join(", ")}`;
    throw new RookeryError("config_invalid", `this agent has no mode "${mode}"; ${there}`);
  }
  await (option === undefined ? session.setMode(mode) : session.setConfigOption(option.id, mode));
}

export function hasModes(session: ClientSession): boolean {
  return session.response.modes != null || findSessionOption(session, "mode") !== undefined;
}

function findSessionOption({ response }: ClientSession, category: string): OfferedOption | undefined {
  return findConfigOption(response, category);
}

function toStartError(agent: string, error: unknown): unknown {
  if (isRookeryError(error)) return error;
  const words = error instanceof PeerError ? formatPeerError(error) : messageOf(error);
  const code = error instanceof PeerError ? error.code : undefined;
  if (detectAccountProblem(words, Date.now(), code)?.status === "unauthorized")
    return new RookeryError("provider_auth", formatAcpLoginError(agent, words), { cause: error });
  return new RookeryError("agent_failed", `${agent} could not start a session: ${words}`, { cause: error });
}
