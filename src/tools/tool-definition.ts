/**
 * Reads the tools of a source into definitions that every provider accepts. Each spec is checked once; rejected ones
 * are named.
 */
import { messageOf, type ToolSpec } from "../domain/index.ts";
import { sanitizeSpec } from "./validate-source.ts";
import { normalizeSchema, SchemaRefusal } from "./normalize-schema.ts";

/** A spec that every model API accepts. */
export interface ToolDefinition {
  /** The name of the spec, copied here for faster access with thousands of tools. */
  readonly name: string;
  readonly defer: boolean;
  readonly spec: ToolSpec;
  /** The whole spec as JSON, with the keys in the order of the source. */
  readonly text: string;
  /** Characters that the definition takes in a model request. */
  readonly size: number;
}

export interface ToolDefinitions {
  /** Sorted by name. */
  readonly taken: readonly ToolDefinition[];
  /** One clause for each rejected tool. */
  readonly leftOut: readonly string[];
}

/** Accepted by OpenAI, Anthropic and Google. Only Google restricts the first character. */
const NAME_PATTERN = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const MAX_DEFINITION_CHARACTERS = 256 * 1024;
/** The search-and-call pair. A source's tool of that name would be hijacked by the pair. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["search_tools", "call_tool"]);

/**
 * Keyed by the spec object, which its source must not change. Shared by all sessions; entries go away with their specs.
 */
const definitionCache = new WeakMap<ToolSpec, ToolDefinition | string>();

/** Reads a list of specs. Unchanged tools keep their objects from `before`. */
export function readDefinitions(list: readonly ToolSpec[], before: readonly ToolDefinition[] = []): ToolDefinitions {
  const known = new Map(before.map((offer) => [offer.spec.name, offer]));
  const taken = new Map<string, ToolDefinition>();
  const leftOut: string[] = [];
  for (const spec of list) {
    if (typeof (spec as unknown) !== "object" || (spec as unknown) === null) {
      leftOut.push("an entry that is not an object");
      continue;
    }
    const offer = readDefinition(spec);
    if (typeof offer === "string") leftOut.push(offer);
    else if (taken.has(offer.spec.name)) leftOut.push(`${offer.spec.name} (listed twice)`);
    else taken.set(offer.spec.name, reuseUnchanged(known.get(offer.spec.name), offer));
  }
  return { taken: [...taken.values()].sort(compareNames), leftOut };
}

function readDefinition(spec: ToolSpec): ToolDefinition | string {
  const before = definitionCache.get(spec);
  if (before !== undefined) return before;
  const offer = parseDefinition(spec);
  definitionCache.set(spec, offer);
  return offer;
}

function parseDefinition(given: ToolSpec): ToolDefinition | string {
  const name = readName(given);
  if (name === undefined) return "a tool without a readable name";
  if (!NAME_PATTERN.test(name)) return `${JSON.stringify(name.slice(0, 80))} (not every provider accepts this name)`;
  if (RESERVED_NAMES.has(name)) return `${name} (the name is reserved for tool search)`;
  try {
    const schema = JSON.stringify(normalizeSchema(given.inputSchema));
    const spec: ToolSpec = { ...sanitizeSpec(given), name, inputSchema: JSON.parse(schema) as Record<string, unknown> };
    const { description } = spec;
    const text = JSON.stringify(spec);
    if (text.length > MAX_DEFINITION_CHARACTERS)
      return `${name} (its definition is longer than ${MAX_DEFINITION_CHARACTERS} characters)`;
    return { name, defer: spec.defer === true, spec, text, size: name.length + description.length + schema.length };
  } catch (error) {
    return `${name} (${error instanceof SchemaRefusal ? error.message : `its definition is not valid JSON: ${firstLine(error)}`})`;
  }
}

/** Returns undefined if the name is not a string or cannot be read: a getter or a proxy may throw. */
function readName(spec: ToolSpec): string | undefined {
  try {
    const name: unknown = spec.name;
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Compares definitions regardless of key order. An equal definition keeps the older object, so that the model's prompt
 * stays the same.
 */
function reuseUnchanged(before: ToolDefinition | undefined, now: ToolDefinition): ToolDefinition {
  if (before === undefined || before === now) return now;
  if (before.text === now.text) return before;
  return before.text.length === now.text.length && canonicalText(before) === canonicalText(now) ? before : now;
}

const canonicalTexts = new WeakMap<ToolDefinition, string>();

function canonicalText(offer: ToolDefinition): string {
  const made = canonicalTexts.get(offer) ?? JSON.stringify(offer.spec, sortKeys);
  canonicalTexts.set(offer, made);
  return made;
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function compareNames(a: ToolDefinition, b: ToolDefinition): number {
  return a.spec.name < b.spec.name ? -1 : 1;
}

function firstLine(error: unknown): string {
  return messageOf(error).split("\n", 1)[0] ?? "";
}
