/** Reads the models, modes and options that an agent offers from its setup response. Skips malformed entries. */
import { z } from "zod";

export interface OfferedOption {
  readonly id: string;
  readonly values: readonly string[];
}

const Value = z.object({ value: z.string() });
const Entry = z.union([z.object({ options: z.array(Value) }).transform(({ options }) => options), Value]);
const Option = z.object({ type: z.literal("select"), id: z.string(), category: z.string(), options: z.array(Entry) });

/** Returns the first select option of the category. */
export function offeredOption(response: unknown, category: string): OfferedOption | undefined {
  const option = listIn(response, "configOptions")
    .map((each) => Option.safeParse(each).data)
    .find((each) => each?.category === category);
  return option && { id: option.id, values: option.options.flat().map(({ value }) => value) };
}

export function offeredModes(response: unknown): string[] {
  return stringsIn(listIn(fieldIn(response, "modes"), "availableModes"), "id");
}

/** Models of the older protocol, which `session/set_model` changes. */
export function offeredModels(response: unknown): string[] {
  return stringsIn(listIn(fieldIn(response, "models"), "availableModels"), "modelId");
}

function fieldIn(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[key];
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = fieldIn(value, key);
  return Array.isArray(list) ? (list as unknown[]) : [];
}

function stringsIn(list: readonly unknown[], key: string): string[] {
  return list.map((each) => fieldIn(each, key)).filter((text) => typeof text === "string");
}
