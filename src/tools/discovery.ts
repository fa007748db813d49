/** Tools that a model finds by searching: past a size, it is told of a search-and-call pair instead of every schema. */
import { z } from "zod";
import type { ToolCall, ToolResult, ToolSource, ToolSpec } from "../domain/index.ts";
import type { Bound } from "./source.ts";

export const SEARCH = "search_tools";
export const CALL = "call_tool";
const MOST_RESULTS = 20;
const RESULTS = 5;
const MOST_CHARACTERS = 30_000;
const DESCRIPTION_CHARACTERS = 2_000;
/** Of a description, what a search looks at: a server may list thousands of tools. */
const SEARCHED_CHARACTERS = 2_000;
const SOURCES_NAMED = 40;

export interface Discovery {
  readonly told: readonly Bound[];
  readonly deferred: readonly Bound[];
}

/** Those that ask for it, and past the limit all tools of sources that are not always told, however small. */
export function parted(tools: readonly Bound[], deferOver: number): Discovery {
  let size = 0;
  for (const tool of tools) if (!tool.defer) size += tool.size;
  const told: Bound[] = [];
  const deferred: Bound[] = [];
  for (const tool of tools) {
    (tool.defer || (size > deferOver && !tool.always) ? deferred : told).push(tool);
  }
  return { told, deferred };
}

/** The pair; `call_tool` is told only, because a call of it is a call of what it names. */
export function searchAndCall(deferred: readonly Bound[]): readonly [search: Bound, call: Bound] {
  const specs = [searchSpec(deferred), CALL_SPEC] as const;
  const source: ToolSource = {
    id: "discovery",
    list: () => specs,
    describe: ({ input }) => ({ title: `Search tools: ${wordsOf(input).join(" ")}` }),
    call: ({ input }) => Promise.resolve(search(deferred, input)),
  };
  const bound = (spec: ToolSpec): Bound => ({
    name: spec.name,
    defer: false,
    spec,
    source,
    always: true,
    text: "",
    size: 0,
  });
  return [bound(specs[0]), bound(specs[1])];
}

/** The call that `call_tool` stands for, or what is wrong with it. */
export function unwrapped({ toolId, input }: ToolCall): ToolCall | string {
  const parsed = CallInput.safeParse(input);
  if (!parsed.success) return `${CALL} takes {"name": "…", "arguments": {…}}: ${z.prettifyError(parsed.error)}`;
  const { name, arguments: given = {} } = parsed.data;
  if (name === CALL) return `${CALL} cannot call itself`;
  return typeof given === "string" ? fromText(toolId, name, given) : { toolId, name, input: given };
}

/** Models write the arguments as text at times. */
function fromText(toolId: string, name: string, text: string): ToolCall | string {
  try {
    return { toolId, name, input: JSON.parse(text) as unknown };
  } catch {
    return `the arguments of ${name} are not JSON`;
  }
}

const CallInput = z.lazy(() =>
  z.object({ name: z.string(), arguments: z.union([z.record(z.string(), z.unknown()), z.string()]).optional() }),
);

const CALL_SPEC: ToolSpec = {
  name: CALL,
  description: `Calls a tool that ${SEARCH} found. The arguments are as the schema of that tool says.`,
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The name of the tool, exactly as it was found." },
      arguments: { type: "object", description: "The arguments of that tool.", properties: {} },
    },
    required: ["name", "arguments"],
  },
  kind: "other",
  readOnly: false,
};

function searchSpec(deferred: readonly Bound[]): ToolSpec {
  const counts = new Map<string, number>();
  for (const { source } of deferred) counts.set(source.id, (counts.get(source.id) ?? 0) + 1);
  const named = Array.from(counts, ([id, count]) => `${id} (${count})`);
  const more = named.length > SOURCES_NAMED ? ` and ${named.length - SOURCES_NAMED} more` : "";
  return {
    name: SEARCH,
    description:
      `Finds tools by words in their names and descriptions, and says how to call them with ${CALL}. ` +
      `${deferred.length} tools are only found so, from: ${named.slice(0, SOURCES_NAMED).join(", ")}${more}.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "A few words for what the tool should do, or its name." },
        limit: { type: "integer", minimum: 1, maximum: MOST_RESULTS, description: `${RESULTS} where left out.` },
      },
      required: ["query"],
    },
    kind: "search",
    readOnly: true,
  };
}

/** A word in the name counts most, then in the title, then in the description; all of the words more than some. */
function search(deferred: readonly Bound[], input: unknown): ToolResult {
  const words = wordsOf(input);
  const scored = deferred
    .map((tool) => ({ tool, score: scoreOf(tool.spec, words) }))
    .filter(({ score }) => score > 0 || words.length === 0)
    .sort((a, b) => b.score - a.score); // stable: among equals as in the catalog
  if (scored.length === 0) {
    return { outcome: "ok", text: `no tool has any of: ${words.join(" ")}. Try other words, or fewer.` };
  }
  const shown: string[] = [];
  let room = MOST_CHARACTERS;
  for (const { tool } of scored.slice(0, limitOf(input))) {
    const text = entry(tool.spec, room);
    if (text.length > room && shown.length > 0) break;
    room -= text.length;
    shown.push(text);
  }
  const more = scored.length - shown.length;
  return { outcome: "ok", text: `[${shown.join(",\n")}]${more > 0 ? `\n${more} more match.` : ""}` };
}

function entry({ name, description, inputSchema }: ToolSpec, room: number): string {
  const short = description.slice(0, DESCRIPTION_CHARACTERS);
  const text = JSON.stringify({ name, description: short, inputSchema });
  if (text.length <= room || room < MOST_CHARACTERS) return text;
  return JSON.stringify({ name, description: short, inputSchema: "too long to show" });
}

function scoreOf({ name, title = "", description }: ToolSpec, words: readonly string[]): number {
  const [inName, inTitle, inText] = [
    name.toLowerCase(),
    title.toLowerCase(),
    description.slice(0, SEARCHED_CHARACTERS).toLowerCase(),
  ];
  if (words.length === 1 && inName === words[0]) return 1_000;
  let score = 0;
  let found = 0;
  for (const word of words) {
    const points = (inName.includes(word) ? 8 : 0) + (inTitle.includes(word) ? 4 : 0) + (inText.includes(word) ? 2 : 0);
    score += points;
    if (points > 0) found += 1;
  }
  return found === words.length ? score * 2 : score;
}

/** No more than a person would type. */
function wordsOf(input: unknown): string[] {
  const { query } = (input ?? {}) as { query?: unknown };
  if (typeof query !== "string") return [];
  return query
    .slice(0, 1_000)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter(Boolean)
    .slice(0, 30);
}

function limitOf(input: unknown): number {
  const { limit } = (input ?? {}) as { limit?: unknown };
  return typeof limit === "number" && limit >= 1 ? Math.min(Math.floor(limit), MOST_RESULTS) : RESULTS;
}
