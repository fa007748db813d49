/** How the agent introduces itself, and how its client logs in and out. */

import { existsSync } from "node:fs";
import { CODE, laidOver, objectOr, Refusal, textIn } from "../rpc.ts";
import type { JsonObject, Script } from "../script.ts";
import type { Method, Office } from "./office.ts";

/** Everything that this agent can do; a script takes away with `initialize: { agentCapabilities: … }`. */
const CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: false, acp: true },
  sessionCapabilities: { list: {}, delete: {}, additionalDirectories: {}, resume: {}, close: {}, fork: {} },
  auth: { logout: {} },
};

export const initialize: Method = (params, office) => {
  office.client.capabilities = objectOr(params["clientCapabilities"]);
  return { result: introduction(office) };
};

export const authenticate: Method = (params, office) => {
  const id = textIn(params, "methodId");
  if (!authMethods(office.script).some((method) => method["id"] === id)) {
    throw new Refusal(CODE.invalidParams, `there is no authentication method ${id}`);
  }
  office.authenticated = true;
  return { result: {} };
};

export const logout: Method = (_, office) => {
  office.authenticated = false;
  return { result: {} };
};

/** Refuses whoever has to authenticate first. */
export function admit({ script: { auth }, authenticated }: Office): void {
  if (auth === undefined || authenticated) return;
  if (auth.file !== undefined && existsSync(auth.file)) return;
  throw new Refusal(CODE.authRequired, "authentication is required");
}

/** Whether the agent said that it can do this; what no capability stands for, it always can. */
export function offers(office: Office, method: string): boolean {
  const said = objectOr(introduction(office)["agentCapabilities"]);
  const [area, name = ""] = method.split("/");
  if (method === "session/load") return said["loadSession"] === true;
  if (method === "session/set_model") return office.script.models !== undefined;
  if (method === "logout") return isOffered(objectOr(said["auth"])["logout"]);
  if (area !== "session" || !(name in CAPABILITIES.sessionCapabilities)) return true;
  return isOffered(objectOr(said["sessionCapabilities"])[name]);
}

function introduction({ script, client }: Office): JsonObject {
  const usual = {
    protocolVersion: 1,
    agentInfo: { name: "scripted-agent", title: "Scripted agent", version: "1.0.0" },
    agentCapabilities: CAPABILITIES,
    // A login in a terminal is for those who can show one.
    authMethods: authMethods(script).filter(({ type }) => type !== "terminal" || client.offers("auth", "terminal")),
  };
  return objectOr(laidOver(usual, script.initialize ?? {}));
}

function authMethods({ auth }: Script): readonly JsonObject[] {
  if (auth === undefined) return [];
  return auth.methods ?? [{ id: "scripted", name: "Scripted login" }];
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}
