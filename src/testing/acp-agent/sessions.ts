/** The sessions of a scripted agent: which there are, what was said in them, and what they are set to. */

import { readFileSync, writeFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { CODE, isObject, Refusal } from "./rpc.ts";
import type { ConfigOptionScript, JsonObject, Script, StoredSession } from "./script.ts";
import type { Update } from "./updates.ts";

export interface Session {
  readonly sessionId: string;
  cwd: string;
  additionalDirectories: readonly unknown[];
  title: string | undefined;
  updatedAt: string | undefined;
  readonly history: Update[];
  /** As they were given when the session was last set up. */
  mcpServers: readonly JsonObject[];
  currentModeId: string | undefined;
  currentModelId: string | undefined;
  configOptions: readonly ConfigOptionScript[];
  /** Whether prompts are taken: closed sessions and those from earlier have to be set up first. */
  active: boolean;
}

const MAX_HISTORY = 100_000;

export class Sessions {
  readonly #script: Script;
  readonly #sessions = new Map<string, Session>();
  #created = 0;

  constructor(script: Script) {
    this.#script = script;
    for (const stored of [...(script.sessions ?? []), ...kept(script.sessionsFile)]) {
      this.#sessions.set(stored.sessionId, this.#session(stored));
    }
  }

  all(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  create(params: JsonObject, history: readonly Update[] = []): Session {
    const { sessionPrefix = "session-" } = this.#script;
    let sessionId: string;
    do sessionId = `${sessionPrefix}${++this.#created}`;
    while (this.#sessions.has(sessionId));
    const session = this.#session({ sessionId, cwd: "/", history });
    this.setUp(session, params);
    this.#sessions.set(sessionId, session);
    this.keep();
    return session;
  }

  /** Makes a session ready for prompts with what the client gave. */
  setUp(session: Session, params: JsonObject): void {
    const { cwd, additionalDirectories } = params;
    const mcpServers = params["mcpServers"] === null ? [] : params["mcpServers"];
    if (typeof cwd !== "string" || !isAbsolute(cwd)) {
      throw new Refusal(CODE.invalidParams, "cwd must be an absolute path", { cwd });
    }
    if (!Array.isArray(mcpServers) || !mcpServers.every(isObject)) {
      throw new Refusal(CODE.invalidParams, "mcpServers must be a list of servers");
    }
    session.cwd = cwd;
    session.mcpServers = mcpServers;
    session.additionalDirectories = Array.isArray(additionalDirectories) ? additionalDirectories : [];
    session.active = true;
  }

  find(sessionId: unknown): Session | undefined {
    return typeof sessionId === "string" ? this.#sessions.get(sessionId) : undefined;
  }

  get(sessionId: unknown): Session {
    if (typeof sessionId !== "string") throw new Refusal(CODE.invalidParams, "sessionId must be a string");
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new Refusal(CODE.notFound, `there is no session ${sessionId}`, { sessionId });
    return session;
  }

  active(sessionId: unknown): Session {
    const session = this.get(sessionId);
    if (!session.active) throw new Refusal(CODE.notFound, `session ${session.sessionId} is not open`, { sessionId });
    return session;
  }

  delete(session: Session): void {
    this.#sessions.delete(session.sessionId);
    this.keep();
  }

  /** What an update says about the session is true of it from then on. */
  append(sessionId: string, update: Update): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const { sessionUpdate, title, updatedAt, currentModeId, configOptions } = update;
    // A notice is for whoever is there; it is no part of the history.
    if (sessionUpdate !== "notice" && session.history.length < MAX_HISTORY) session.history.push(update);
    if (sessionUpdate === "session_info_update") {
      if (typeof title === "string") session.title = title;
      if (typeof updatedAt === "string") session.updatedAt = updatedAt;
    }
    if (sessionUpdate === "current_mode_update" && typeof currentModeId === "string") {
      session.currentModeId = currentModeId;
    }
    if (sessionUpdate === "config_option_update" && Array.isArray(configOptions)) {
      session.configOptions = configOptions as ConfigOptionScript[];
    }
  }

  /** Writes the sessions to the script's file, if it names one. */
  keep(): void {
    if (this.#script.sessionsFile === undefined) return;
    const stored: StoredSession[] = this.all().map(({ sessionId, cwd, title, updatedAt, history }) => ({
      sessionId,
      cwd,
      ...(title !== undefined && { title }),
      ...(updatedAt !== undefined && { updatedAt }),
      history,
    }));
    writeFileSync(this.#script.sessionsFile, JSON.stringify(stored));
  }

  #session({ sessionId, cwd, title, updatedAt, history = [] }: StoredSession): Session {
    return {
      sessionId,
      cwd,
      additionalDirectories: [],
      title,
      updatedAt,
      history: [...history],
      mcpServers: [],
      currentModeId: this.#script.modes?.currentModeId,
      currentModelId: this.#script.models?.currentModelId,
      configOptions: this.#script.configOptions ?? [],
      active: false,
    };
  }
}

function kept(file: string | undefined): readonly StoredSession[] {
  if (file === undefined) return [];
  try {
    return JSON.parse(readFileSync(file, "utf8")) as StoredSession[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
