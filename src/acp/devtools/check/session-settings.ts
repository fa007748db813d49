/** The modes and config options of a session, as far as what an agent says about them can be read. */
import { isJsonObject, type JsonMembers } from "../../wire/json-object.ts";
import { quoteJson } from "./quote.ts";

export interface SessionSettings {
  readonly modes: { readonly current: unknown; readonly offered: ReadonlySet<unknown> } | undefined;
  /** Undefined where none are spoken of. */
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

/** The values of a select, which may stand in groups. */
export function listOfferedValues(option: JsonMembers): unknown[] {
  return filterObjects(option["options"]).flatMap((entry) =>
    "group" in entry ? filterObjects(entry["options"]).map(({ value }) => value) : [entry["value"]],
  );
}

/** What is current and was never offered. */
export function findUnofferedSetting(
  { options = [] }: SessionSettings,
  currentMode: unknown,
  modes: ReadonlySet<unknown> | undefined,
): string | undefined {
  if (modes !== undefined && currentMode !== undefined && !modes.has(currentMode)) {
    return `the mode ${quoteJson(currentMode)} is current, offered are ${quoteJson([...modes])}`;
  }
  const wrong = options.find(
    (option) => option["type"] === "select" && !listOfferedValues(option).includes(option["currentValue"]),
  );
  if (wrong === undefined) return undefined;
  const { id, currentValue } = wrong;
  return `the option ${quoteJson(id)} has the value ${quoteJson(currentValue)}, offered are ${quoteJson(listOfferedValues(wrong))}`;
}

function filterObjects(value: unknown): JsonMembers[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
