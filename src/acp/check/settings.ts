/** The modes and config options of a session, as far as what an agent says about them can be read. */
import { isObject, type Members } from "./object.ts";
import { quoted } from "./quote.ts";

export interface Settings {
  readonly modes: { readonly current: unknown; readonly offered: ReadonlySet<unknown> } | undefined;
  /** Undefined where none are spoken of. */
  readonly options: readonly Members[] | undefined;
}

export function settingsIn(told: Members): Settings {
  const { modes, configOptions } = told;
  return {
    modes: isObject(modes)
      ? { current: modes["currentModeId"], offered: new Set(objects(modes["availableModes"]).map(({ id }) => id)) }
      : undefined,
    options: Array.isArray(configOptions) && configOptions.length > 0 ? objects(configOptions) : undefined,
  };
}

/** The values of a select, which may stand in groups. */
export function offeredValues(option: Members): unknown[] {
  return objects(option["options"]).flatMap((entry) =>
    "group" in entry ? objects(entry["options"]).map(({ value }) => value) : [entry["value"]],
  );
}

/** What is current and was never offered. */
export function unofferedSettings(
  { options = [] }: Settings,
  currentMode: unknown,
  modes: ReadonlySet<unknown> | undefined,
): string | undefined {
  if (modes !== undefined && currentMode !== undefined && !modes.has(currentMode)) {
    return `the mode ${quoted(currentMode)} is current, offered are ${quoted([...modes])}`;
  }
  const wrong = options.find(
    (option) => option["type"] === "select" && !offeredValues(option).includes(option["currentValue"]),
  );
  if (wrong === undefined) return undefined;
  const { id, currentValue } = wrong;
  return `the option ${quoted(id)} has the value ${quoted(currentValue)}, offered are ${quoted(offeredValues(wrong))}`;
}

function objects(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
