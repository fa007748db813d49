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
export function findConfigOption(response: unknown, category: string): OfferedOption | undefined {
  const option = readList(response, "configOptions")
    .map((each) => Option.safeParse(each).data)
    .find((each) => each?.category === category);
  return option && { id: option.id, values: option.options.flat().map(({ value }) => value) };
}

export function readOfferedModes(response: unknown): string[] {
  return readStrings(readList(readField(response, "modes"), "availableModes"), "id");
}

/** Models of the older protocol, which `session/set_model` changes. */
export function readOfferedModels(response: unknown): string[] {
  return readStrings(readList(readField(response, "models"), "availableModels"), "modelId");
}

function readField(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[key];
}

function readList(value: unknown, key: string): readonly unknown[] {
  const list = readField(value, key);
  return Array.isArray(list) ? (list as unknown[]) : [];
}

function readStrings(list: readonly unknown[], key: string): string[] {
  return list.map((each) => readField(each, key)).filter((text) => typeof text === "string");
}
