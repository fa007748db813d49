/** The sessions that programs keep themselves: lists those of a directory, and adopts them. */
import { listKeptSessions } from "../backends/history/list.ts";
import { loadNativeHistory } from "../backends/history/native-history.ts";
import { realFolder } from "../config/root.ts";
import { findAgentOfBackend, loadConfig, type Config } from "../config/index.ts";
import {
  RookeryError,
  emptyState,
  type AdoptableBackend,
  type NativeSessionName,
  type NativeSessionSummary,
} from "../domain/index.ts";
import { createAgentPreparer, type SharedServices } from "../opening/index.ts";
import { adoptNativeSession, listNativeSessions, nativeKey, toNamedChanges } from "../session/index.ts";
import type { OpenSessionOptions } from "./options.ts";
import { leaseOptionsOf, type ProcessContext } from "./process-context.ts";

export interface NativeSessionsQuery {
  /** Default: the working directory of this `Rookery`. */
  readonly cwd?: string;
  /** Default: all that keep sessions. */
  readonly backend?: AdoptableBackend;
}

export interface AdoptableSession extends NativeSessionSummary {
  /** The session of Rookery that has it already. It cannot be adopted then. */
  readonly session?: string | undefined;
}

/** Options of `Rookery.adoptSession`. */
export type AdoptSessionOptions = NativeSessionName &
  Pick<OpenSessionOptions, "agent" | "model" | "cwd" | "permissions" | "title" | "task" | "env">;

export class NativeSessions {
  readonly #context: ProcessContext;
  readonly #services: () => SharedServices;

  constructor(context: ProcessContext, services: () => SharedServices) {
    this.#context = context;
    this.#services = services;
  }

  /** Last written first. */
  async list({ cwd = ".", backend }: NativeSessionsQuery): Promise<readonly AdoptableSession[]> {
    const { env, resolveFolder, store } = this.#context;
    const given = resolveFolder(cwd);
    const folder = await realFolder(given).catch(() => given); // programs write the real path
    const config = await loadConfig({ cwd: folder, env });
    const environmentFor = (each: AdoptableBackend) => agentEnvironment(config, findAgentOfBackend(config, each), env);
    const kept = await listKeptSessions({ cwd: folder, backend, environmentFor });
    const known = await listNativeSessions(store);
    return kept.map((native) => ({ ...native, session: known.get(nativeKey(native)) }));
  }

  /** Resolves with the ID of the new session. No process drives it yet. */
  async adopt({ backend, nativeId, ...options }: AdoptSessionOptions): Promise<string> {
    const { env, resolveFolder, sharedHost } = this.#context;
    const { cwd: folder, model, permissions, title, task } = options;
    const config = await loadConfig({ cwd: resolveFolder(folder ?? "."), env });
    const agent = options.agent ?? findAgentOfBackend(config, backend);
    const named = typeof agent === "string" ? agentEnvironment(config, agent, env) : env;
    const history = await loadNativeHistory(backend);
    await using conversation = await history.open({ ...named, ...options.env }, nativeId);
    const cwd = folder === undefined ? conversation.cwd : resolveFolder(folder);
    const prepare = createAgentPreparer(this.#services(), options.env === undefined ? {} : { env: options.env });
    const { settings } = await prepare(emptyState(""), toNamedChanges({ agent, model, permissions, cwd }));
    if (settings.backend !== backend) {
      throw new RookeryError(
        "input_invalid",
        `the agent ${settings.agent} has the backend ${settings.backend}, which cannot continue a session of ${backend}: choose another agent`,
      );
    }
    return await adoptNativeSession({ ...leaseOptionsOf(this.#context), host: sharedHost }, conversation, {
      name: { backend, nativeId },
      settings,
      title,
      task,
    });
  }
}

/** Programs keep their sessions where the environment of the agent says. */
function agentEnvironment({ agents }: Config, name: string, env: ProcessContext["env"]): ProcessContext["env"] {
  return { ...env, ...agents.get(name)?.env };
}
