/** What a session is set to: its mode, its options, and, as old agents have it, its model. */

import { CODE, isObject, Refusal, textIn } from "../rpc.ts";
import type { ConfigOptionScript, JsonObject } from "../script.ts";
import type { Session } from "../sessions.ts";
import type { Method, Office } from "./office.ts";

/** What every set-up of a session answers with. */
export function settingsOf(session: Session, office: Office): JsonObject {
  const { modes, models, configOptions } = office.script;
  return {
    ...(modes !== undefined && { modes: { ...modes, currentModeId: session.currentModeId } }),
    ...(models !== undefined && { models: { ...models, currentModelId: session.currentModelId } }),
    ...(configOptions !== undefined && { configOptions: shown(session, office) }),
  };
}

export const setMode: Method = (params, office) => {
  const session = office.sessions.active(params["sessionId"]);
  const id = textIn(params, "modeId");
  if (!office.script.modes?.availableModes.some((mode) => mode.id === id)) {
    throw new Refusal(CODE.invalidParams, `there is no mode ${id}`);
  }
  session.currentModeId = id;
  return { result: {}, session };
};

export const setModel: Method = (params, office) => {
  const session = office.sessions.active(params["sessionId"]);
  const id = textIn(params, "modelId");
  if (!office.script.models?.availableModels.some((model) => model["modelId"] === id)) {
    throw new Refusal(CODE.invalidParams, `there is no model ${id}`);
  }
  session.currentModelId = id;
  return { result: {}, session };
};

export const setConfigOption: Method = (params, office) => {
  const session = office.sessions.active(params["sessionId"]);
  const id = textIn(params, "configId");
  const { value } = params;
  const option = session.configOptions.find((known) => known.id === id);
  if (option === undefined) throw new Refusal(CODE.invalidParams, `there is no option ${id}`);
  if (!takes(option, value)) {
    throw new Refusal(CODE.invalidParams, `option ${id} cannot be ${JSON.stringify(value)}`);
  }
  session.configOptions = session.configOptions.map((known) =>
    known.id === id ? { ...known, currentValue: value } : known,
  );
  return { result: { configOptions: shown(session, office) }, session };
};

/** A boolean is shown only to those who said that they know what it is. */
function shown({ configOptions }: Session, { client }: Office): readonly ConfigOptionScript[] {
  return configOptions.filter(({ type }) => type !== "boolean" || client.offers("session", "configOptions", "boolean"));
}

function takes({ type, options = [] }: ConfigOptionScript, value: unknown): value is string | boolean {
  if (type === "boolean") return typeof value === "boolean";
  return options
    .flatMap((entry) => (Array.isArray(entry["options"]) ? (entry["options"] as unknown[]) : [entry]))
    .some((entry) => isObject(entry) && entry["value"] === value);
}
