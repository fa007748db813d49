/** Reads the modes and config options of a session from the agent's messages. */
import { isJsonObject, type JsonMembers } from "../../wire/json-object.ts";
import { quoteJson } from "./quote.ts";

export interface SessionSettings {
  readonly modes: { readonly current: unknown; readonly offered: ReadonlySet<unknown> } | undefined;
  /** Undefined if the message mentions none. */
  readonly options: readonly JsonMembers[] | undefined;
}

export function readSessionSettings(told: JsonMembers): SessionSettings {
  const { modes, configOptions } = told;
  return {
    modes: isJsonObject(modes)
      ? {
          current: modes["currentModeId"],
          offered: new Set(filterObjects(modes["availableModes"]).map(({ id }) => id)),
        }
      : undefined,
    options: Array.isArray(configOptions) && configOptions.length > 0 ? filterObjects(configOptions) : undefined,
  };
}

/** The values of a select option, including those in groups. */
export function listOfferedValues(option: JsonMembers): unknown[] {
  return filterObjects(option["options"]).flatMap((entry) =>
    "group" in entry ? filterObjects(entry["options"]).map(({ value }) => value) : [entry["value"]],
  );
}

/** Describes a current mode or value that the agent never offered. */
export function findUnofferedSetting(
  { options = [] }: SessionSettings,
  currentMode: unknown,
  modes: ReadonlySet<unknown> | undefined,
): string | undefined {
  if (modes !== undefined && currentMode !== undefined && !modes.has(currentMode)) {
    return `the current mode is ${quoteJson(currentMode)}, but the offered modes are ${quoteJson([...modes])}`;
  }
  const wrong = options.find(
    (option) => option["type"] === "select" && !listOfferedValues(option).includes(option["currentValue"]),
  );
  if (wrong === undefined) return undefined;
  const { id, currentValue } = wrong;
  return `the option ${quoteJson(id)} has the value ${quoteJson(currentValue)}, but the offered values are ${quoteJson(listOfferedValues(wrong))}`;
}

function filterObjects(value: unknown): JsonMembers[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
