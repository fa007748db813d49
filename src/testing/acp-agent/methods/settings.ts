/** Handles the settings of a session: mode, configuration options and, for old agents, the model. */

import { RPC_ERROR, isObject, RpcFailure, requireString, type JsonObject } from "../rpc.ts";
import type { AcpConfigOptionScript } from "../script.ts";
import type { ScriptedSession } from "../sessions.ts";
import type { MethodHandler, MethodContext } from "./method.ts";

/** Returns the settings fields of the response to new, load, resume and fork. */
export function sessionSettings(session: ScriptedSession, context: MethodContext): JsonObject {
  const { modes, models, configOptions } = context.script;
  return {
    ...(modes !== undefined && { modes: { ...modes, currentModeId: session.currentModeId } }),
    ...(models !== undefined && { models: { ...models, currentModelId: session.currentModelId } }),
    ...(configOptions !== undefined && { configOptions: visibleConfigOptions(session, context) }),
  };
}

export const handleSetMode: MethodHandler = (params, context) => {
  const session = context.sessions.active(params["sessionId"]);
  const id = requireString(params, "modeId");
  if (!context.script.modes?.availableModes.some((mode) => mode.id === id)) {
    throw new RpcFailure(RPC_ERROR.invalidParams, `unknown mode ${id}`);
  }
  session.currentModeId = id;
  return { result: {}, session };
};

export const handleSetModel: MethodHandler = (params, context) => {
  const session = context.sessions.active(params["sessionId"]);
  const id = requireString(params, "modelId");
  if (!context.script.models?.availableModels.some((model) => model["modelId"] === id)) {
    throw new RpcFailure(RPC_ERROR.invalidParams, `unknown model ${id}`);
  }
  session.currentModelId = id;
  return { result: {}, session };
};

export const handleSetConfigOption: MethodHandler = (params, context) => {
  const session = context.sessions.active(params["sessionId"]);
  const id = requireString(params, "configId");
  const { value } = params;
  const option = session.configOptions.find((known) => known.id === id);
  if (option === undefined) throw new RpcFailure(RPC_ERROR.invalidParams, `unknown option ${id}`);
  if (!acceptsValue(option, value)) {
    throw new RpcFailure(RPC_ERROR.invalidParams, `option ${id} cannot be ${JSON.stringify(value)}`);
  }
  session.configOptions = session.configOptions.map((known) =>
    known.id === id ? { ...known, currentValue: value } : known,
  );
  return { result: { configOptions: visibleConfigOptions(session, context) }, session };
};

/** Hides boolean options from clients that do not support them. */
function visibleConfigOptions(
  { configOptions }: ScriptedSession,
  { client }: MethodContext,
): readonly AcpConfigOptionScript[] {
  return configOptions.filter(
    ({ type }) => type !== "boolean" || client.supports("session", "configOptions", "boolean"),
  );
}

function acceptsValue({ type, options = [] }: AcpConfigOptionScript, value: unknown): value is string | boolean {
  if (type === "boolean") return typeof value === "boolean";
  return options
    .flatMap((entry) => (Array.isArray(entry["options"]) ? (entry["options"] as unknown[]) : [entry]))
    .some((entry) => isObject(entry) && entry["value"] === value);
}
