/** What a source offers, as every provider takes it: each spec is looked at once, and what cannot be taken is named. */
import { messageOf, type ToolSpec } from "../domain/index.ts";
import { checkedSpec } from "./checked.ts";
import { mendSchema, SchemaRefusal } from "./schema.ts";

/** A spec that can be given to any model. */
export interface Offer {
  /** As in the spec: what is looked at for thousands of tools lies beside each other. */
  readonly name: string;
  readonly defer: boolean;
  readonly spec: ToolSpec;
  /** The whole of it as JSON, in the order its source wrote it. */
  readonly text: string;
  /** Characters that telling a model of it takes. */
  readonly size: number;
}

export interface Offers {
  /** By name. */
  readonly taken: readonly Offer[];
  /** One clause a tool. */
  readonly leftOut: readonly string[];
}

/** What OpenAI, Anthropic and Google all take; Google alone minds what a name begins with. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const MOST_CHARACTERS = 256 * 1024;
/** The search-and-call pair: a source's tool of that name would be called in its place. */
export const RESERVED: ReadonlySet<string> = new Set(["search_tools", "call_tool"]);

/** By the spec itself, which its source must not change; for all sessions, and gone with the spec. */
const seen = new WeakMap<ToolSpec, Offer | string>();

/** Offers of before stay the same objects where the specs say the same. */
export function readOffers(list: readonly ToolSpec[], before: readonly Offer[] = []): Offers {
  const known = new Map(before.map((offer) => [offer.spec.name, offer]));
  const taken = new Map<string, Offer>();
  const leftOut: string[] = [];
  for (const spec of list) {
    if (typeof (spec as unknown) !== "object" || (spec as unknown) === null) {
      leftOut.push("something that is no tool");
      continue;
    }
    const offer = look(spec);
    if (typeof offer === "string") leftOut.push(offer);
    else if (taken.has(offer.spec.name)) leftOut.push(`${offer.spec.name} (listed twice)`);
    else taken.set(offer.spec.name, kept(known.get(offer.spec.name), offer));
  }
  return { taken: [...taken.values()].sort(byName), leftOut };
}

function look(spec: ToolSpec): Offer | string {
  const before = seen.get(spec);
  if (before !== undefined) return before;
  const offer = judged(spec);
  seen.set(spec, offer);
  return offer;
}

function judged(given: ToolSpec): Offer | string {
  const name = readableName(given);
  if (name === undefined) return "a tool without a readable name";
  if (!NAME.test(name)) return `${JSON.stringify(name.slice(0, 80))} (no provider takes such a name)`;
  if (RESERVED.has(name)) return `${name} (the name is taken by the search for tools)`;
  try {
    const schema = JSON.stringify(mendSchema(given.inputSchema));
    const spec: ToolSpec = { ...checkedSpec(given), name, inputSchema: JSON.parse(schema) as Record<string, unknown> };
    const { description } = spec;
    const text = JSON.stringify(spec);
    if (text.length > MOST_CHARACTERS) return `${name} (its definition is longer than ${MOST_CHARACTERS} characters)`;
    return { name, defer: spec.defer === true, spec, text, size: name.length + description.length + schema.length };
  } catch (error) {
    return `${name} (${error instanceof SchemaRefusal ? error.message : `its definition is no JSON: ${firstLine(error)}`})`;
  }
}

/** Undefined if it is no text, or cannot be read: a getter or a proxy may throw. */
function readableName(spec: ToolSpec): string | undefined {
  try {
    const name: unknown = spec.name;
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Told apart by what they say, not by the order of their keys; the older one stays, so that what a model reads does. */
function kept(before: Offer | undefined, now: Offer): Offer {
  if (before === undefined || before === now) return now;
  if (before.text === now.text) return before;
  return before.text.length === now.text.length && canonical(before) === canonical(now) ? before : now;
}

const canonicals = new WeakMap<Offer, string>();

function canonical(offer: Offer): string {
  const made = canonicals.get(offer) ?? JSON.stringify(offer.spec, sortedKeys);
  canonicals.set(offer, made);
  return made;
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function byName(a: Offer, b: Offer): number {
  return a.spec.name < b.spec.name ? -1 : 1;
}

function firstLine(error: unknown): string {
  return messageOf(error).split("\n", 1)[0] ?? "";
}
