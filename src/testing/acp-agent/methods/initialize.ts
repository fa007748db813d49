/** Handles `initialize`, `authenticate` and `logout`. */

import { existsSync } from "node:fs";
import { RPC_ERROR, mergeDeep, toObject, RpcFailure, requireString, type JsonObject } from "../rpc.ts";
import type { AcpScript } from "../script.ts";
import type { MethodHandler, MethodContext } from "./method.ts";

/** All capabilities of this agent. A script removes some with `initialize: { agentCapabilities: … }`. */
const CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: false, acp: true },
  sessionCapabilities: { list: {}, delete: {}, additionalDirectories: {}, resume: {}, close: {}, fork: {} },
  auth: { logout: {} },
};

export const handleInitialize: MethodHandler = (params, context) => {
  context.client.capabilities = toObject(params["clientCapabilities"]);
  return { result: initializeResult(context) };
};

export const handleAuthenticate: MethodHandler = (params, context) => {
  const id = requireString(params, "methodId");
  if (!authMethods(context.script).some((method) => method["id"] === id)) {
    throw new RpcFailure(RPC_ERROR.invalidParams, `unknown authentication method ${id}`);
  }
  context.authenticated = true;
  return { result: {} };
};

export const handleLogout: MethodHandler = (_, context) => {
  context.authenticated = false;
  return { result: {} };
};

/** Throws -32000 if the client has to authenticate first. */
export function requireAuthentication({ script: { auth }, authenticated }: MethodContext): void {
  if (auth === undefined || authenticated) return;
  if (auth.file !== undefined && existsSync(auth.file)) return;
  throw new RpcFailure(RPC_ERROR.authRequired, "authentication is required");
}

/** True if the agent advertises the method. Methods without a capability are always available. */
export function offersMethod(context: MethodContext, method: string): boolean {
  const said = toObject(initializeResult(context)["agentCapabilities"]);
  const [area, name = ""] = method.split("/");
  if (method === "session/load") return said["loadSession"] === true;
  if (method === "session/set_model") return context.script.models !== undefined;
  if (method === "logout") return isEnabled(toObject(said["auth"])["logout"]);
  if (area !== "session" || !(name in CAPABILITIES.sessionCapabilities)) return true;
  return isEnabled(toObject(said["sessionCapabilities"])[name]);
}

function initializeResult({ script, client }: MethodContext): JsonObject {
  const usual = {
    protocolVersion: 1,
    agentInfo: { name: "scripted-agent", title: "Scripted agent", version: "1.0.0" },
    agentCapabilities: CAPABILITIES,
    // Only clients with terminal support see a login in a terminal.
    authMethods: authMethods(script).filter(({ type }) => type !== "terminal" || client.supports("auth", "terminal")),
  };
  return toObject(mergeDeep(usual, script.initialize ?? {}));
}

function authMethods({ auth }: AcpScript): readonly JsonObject[] {
  if (auth === undefined) return [];
  return auth.methods ?? [{ id: "scripted", name: "Scripted login" }];
}

function isEnabled(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}
