/** What a well-behaved agent answers to each method, before a script lays its own over it. */

import { existsSync } from "node:fs";
import { CODE, laidOver, objectOr, Refusal, textIn } from "./rpc.ts";
import type { JsonObject, Script } from "./script.ts";
import type { Session, Sessions } from "./sessions.ts";

/** What the methods work on. */
export interface Office {
  readonly script: Script;
  readonly sessions: Sessions;
  authenticated: boolean;
  /** Ends the prompt of a session, if it has one, as cancelled. */
  endTurn(sessionId: string): Promise<void>;
}

export interface Usual {
  readonly result: JsonObject;
  readonly session?: Session;
  /** What has to happen before the answer. */
  readonly first?: Promise<void>;
}

type Method = (params: JsonObject, office: Office) => Usual;

const DEFAULT_AUTH_METHODS = [{ id: "scripted", name: "Scripted login" }];

/** Everything that this agent can do; a script takes away with `initialize: { agentCapabilities: … }`. */
const CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true, acp: true },
  sessionCapabilities: { list: {}, delete: {}, additionalDirectories: {}, resume: {}, close: {}, fork: {} },
  auth: { logout: {} },
};

export const METHODS: Readonly<Record<string, Method>> = {
  initialize(_, { script }) {
    const usual = {
      protocolVersion: 1,
      agentInfo: { name: "scripted-agent", title: "Scripted agent", version: "1.0.0" },
      agentCapabilities: CAPABILITIES,
      authMethods: script.auth === undefined ? [] : (script.auth.methods ?? DEFAULT_AUTH_METHODS),
    };
    return { result: objectOr(laidOver(usual, script.initialize ?? {})) };
  },

  authenticate(params, office) {
    const id = textIn(params, "methodId");
    const known = office.script.auth?.methods ?? DEFAULT_AUTH_METHODS;
    if (!known.some((method) => method["id"] === id)) {
      throw new Refusal(CODE.invalidParams, `there is no authentication method ${id}`);
    }
    office.authenticated = true;
    return { result: {} };
  },

  logout(_, office) {
    office.authenticated = false;
    return { result: {} };
  },

  "session/new"(params, office) {
    admit(office);
    const session = office.sessions.create({ mcpServers: undefined, ...params });
    return { result: { sessionId: session.sessionId, ...stateOf(session, office) }, session };
  },

  "session/load": (params, office) => setUp(params, office),
  "session/resume": (params, office) => setUp(params, office),
};

/** Whether what was advertised allows the method; a method that is no capability always is. */
export function offers(office: Office, method: string): boolean {
  const capabilities = objectOr(METHODS["initialize"]?.({}, office).result["agentCapabilities"]);
  const [area, name = ""] = method.split("/");
  if (method === "session/load") return capabilities["loadSession"] === true;
  if (method === "logout") return isOffered(objectOr(capabilities["auth"])["logout"]);
  if (area === "session" && name in CAPABILITIES.sessionCapabilities) {
    return isOffered(objectOr(capabilities["sessionCapabilities"])[name]);
  }
  return true;
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}

function setUp(params: JsonObject, office: Office): Usual {
  admit(office);
  const session = office.sessions.get(params["sessionId"]);
  office.sessions.setUp(session, params);
  return { result: stateOf(session, office), session };
}

/** Refuses whoever has to authenticate first. */
export function admit({ script: { auth }, authenticated }: Office): void {
  if (auth === undefined || authenticated) return;
  if (auth.file !== undefined && existsSync(auth.file)) return;
  throw new Refusal(CODE.authRequired, "authentication is required");
}

function stateOf(session: Session, { script }: Office): JsonObject {
  return {
    ...(script.modes !== undefined && { modes: { ...script.modes, currentModeId: session.currentModeId } }),
    ...(script.models !== undefined && { models: { ...script.models, currentModelId: session.currentModelId } }),
    ...(script.configOptions !== undefined && { configOptions: session.configOptions }),
  };
}
