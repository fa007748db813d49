/** The sessions of a scripted agent, with their history and settings. */

import { readFileSync, writeFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { RPC_ERROR, isObject, RpcFailure, type JsonObject } from "./rpc.ts";
import type { AcpConfigOptionScript, AcpScript, AcpStoredSession } from "./script.ts";
import type { AcpUpdate } from "./updates.ts";

export interface ScriptedSession {
  readonly sessionId: string;
  cwd: string;
  additionalDirectories: readonly unknown[];
  title: string | undefined;
  updatedAt: string | undefined;
  readonly history: AcpUpdate[];
  /** From the last new, load, resume or fork request. */
  mcpServers: readonly JsonObject[];
  currentModeId: string | undefined;
  currentModelId: string | undefined;
  configOptions: readonly AcpConfigOptionScript[];
  /** Whether the session accepts prompts. Closed and stored sessions have to be loaded or resumed first. */
  active: boolean;
}

const MAX_HISTORY = 100_000;

export class ScriptedSessions {
  readonly #script: AcpScript;
  readonly #sessions = new Map<string, ScriptedSession>();
  #created = 0;

  constructor(script: AcpScript) {
    this.#script = script;
    for (const stored of [...(script.sessions ?? []), ...readSessionsFile(script.sessionsFile)]) {
      this.#sessions.set(stored.sessionId, this.#session(stored));
    }
  }

  all(): readonly ScriptedSession[] {
    return [...this.#sessions.values()];
  }

  create(params: JsonObject, history: readonly AcpUpdate[] = []): ScriptedSession {
    const { sessionPrefix = "session-" } = this.#script;
    let sessionId: string;
    do sessionId = `${sessionPrefix}${++this.#created}`;
    while (this.#sessions.has(sessionId));
    const session = this.#session({ sessionId, cwd: "/", history });
    this.setUp(session, params);
    this.#sessions.set(sessionId, session);
    this.save();
    return session;
  }

  /** Activates a session with the folder and servers of the request. Throws invalid params. */
  setUp(session: ScriptedSession, params: JsonObject): void {
    const { cwd, additionalDirectories } = params;
    const mcpServers = params["mcpServers"] === null ? [] : params["mcpServers"];
    if (typeof cwd !== "string" || !isAbsolute(cwd)) {
      throw new RpcFailure(RPC_ERROR.invalidParams, "cwd must be an absolute path", { cwd });
    }
    if (!Array.isArray(mcpServers) || !mcpServers.every(isObject)) {
      throw new RpcFailure(RPC_ERROR.invalidParams, "mcpServers must be an array of objects");
    }
    session.cwd = cwd;
    session.mcpServers = mcpServers;
    session.additionalDirectories = Array.isArray(additionalDirectories) ? additionalDirectories : [];
    session.active = true;
  }

  find(sessionId: unknown): ScriptedSession | undefined {
    return typeof sessionId === "string" ? this.#sessions.get(sessionId) : undefined;
  }

  get(sessionId: unknown): ScriptedSession {
    if (typeof sessionId !== "string") throw new RpcFailure(RPC_ERROR.invalidParams, "sessionId must be a string");
    const session = this.#sessions.get(sessionId);
    if (session === undefined)
      throw new RpcFailure(RPC_ERROR.notFound, `there is no session ${sessionId}`, { sessionId });
    return session;
  }

  active(sessionId: unknown): ScriptedSession {
    const session = this.get(sessionId);
    if (!session.active)
      throw new RpcFailure(RPC_ERROR.notFound, `session ${session.sessionId} is not open`, { sessionId });
    return session;
  }

  delete(session: ScriptedSession): void {
    this.#sessions.delete(session.sessionId);
    this.save();
  }

  /** Adds an update to the history and applies it to the session's title, mode and options. */
  append(sessionId: string, update: AcpUpdate): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const { sessionUpdate, title, updatedAt, currentModeId, configOptions } = update;
    // A notice is only for connected clients; it is not part of the history.
    if (sessionUpdate !== "notice" && session.history.length < MAX_HISTORY) session.history.push(update);
    if (sessionUpdate === "session_info_update") {
      if (typeof title === "string") session.title = title;
      if (typeof updatedAt === "string") session.updatedAt = updatedAt;
    }
    if (sessionUpdate === "current_mode_update" && typeof currentModeId === "string") {
      session.currentModeId = currentModeId;
    }
    if (sessionUpdate === "config_option_update" && Array.isArray(configOptions)) {
      session.configOptions = configOptions as AcpConfigOptionScript[];
    }
  }

  /** Writes the sessions to the script's file, if it names one. */
  save(): void {
    if (this.#script.sessionsFile === undefined) return;
    const stored: AcpStoredSession[] = this.all().map(({ sessionId, cwd, title, updatedAt, history }) => ({
      sessionId,
      cwd,
      ...(title !== undefined && { title }),
      ...(updatedAt !== undefined && { updatedAt }),
      history,
    }));
    writeFileSync(this.#script.sessionsFile, JSON.stringify(stored));
  }

  #session({ sessionId, cwd, title, updatedAt, history = [] }: AcpStoredSession): ScriptedSession {
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

function readSessionsFile(file: string | undefined): readonly AcpStoredSession[] {
  if (file === undefined) return [];
  try {
    return JSON.parse(readFileSync(file, "utf8")) as AcpStoredSession[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
