/**
 * Progressive discovery: above a size limit, the model gets a search-and-call pair instead of every tool definition.
 */
import { z } from "zod";
import type { ToolCall, ToolResult, ToolSource, ToolSpec } from "../domain/index.ts";
import type { BoundTool } from "./bound-source.ts";

export const SEARCH_TOOLS = "search_tools";
export const CALL_TOOL = "call_tool";
const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 5;
const MAX_SEARCH_CHARACTERS = 30_000;
const MAX_DESCRIPTION_CHARACTERS = 2_000;
/** How much of a description a search reads. A server may list thousands of tools. */
const MAX_SEARCHED_CHARACTERS = 2_000;
const MAX_LISTED_SOURCES = 40;

export interface SplitTools {
  readonly visible: readonly BoundTool[];
  readonly deferred: readonly BoundTool[];
}

/**
 * Splits the tools into visible and deferred ones. A tool is deferred if it asks for it, or if all definitions together
 * exceed `deferOver` and its source is not marked `always`.
 */
export function splitDeferred(tools: readonly BoundTool[], deferOver: number): SplitTools {
  let size = 0;
  for (const tool of tools) if (!tool.defer) size += tool.size;
  const visible: BoundTool[] = [];
  const deferred: BoundTool[] = [];
  for (const tool of tools) {
    (tool.defer || (size > deferOver && !tool.always) ? deferred : visible).push(tool);
  }
  return { visible, deferred };
}

/**
 * Makes `search_tools` and `call_tool`. Nothing ever runs `call_tool`: a call of it is replaced by the call that it
 * names.
 */
export function makeDiscoveryTools(deferred: readonly BoundTool[]): readonly [search: BoundTool, call: BoundTool] {
  const specs = [searchSpec(deferred), CALL_SPEC] as const;
  const source: ToolSource = {
    id: "discovery",
    list: () => specs,
    describe: ({ input }) => ({ title: `Search tools: ${parseQueryWords(input).join(" ")}` }),
    call: ({ input }) => Promise.resolve(search(deferred, input)),
  };
  const bound = (spec: ToolSpec): BoundTool => ({
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

/** Returns the call that `call_tool` wraps, or a message that says what is wrong with it. */
export function unwrapCallTool({ toolId, input }: ToolCall): ToolCall | string {
  const parsed = CallInput.safeParse(input);
  if (!parsed.success) return `${CALL_TOOL} expects {"name": "…", "arguments": {…}}: ${z.prettifyError(parsed.error)}`;
  const { name, arguments: given = {} } = parsed.data;
  if (name === CALL_TOOL) return `${CALL_TOOL} cannot call itself`;
  return typeof given === "string" ? parseTextArguments(toolId, name, given) : { toolId, name, input: given };
}

/** Some models send the arguments as a JSON string. */
function parseTextArguments(toolId: string, name: string, text: string): ToolCall | string {
  try {
    return { toolId, name, input: JSON.parse(text) as unknown };
  } catch {
    return `the arguments of ${name} are not valid JSON`;
  }
}

const CallInput = z.lazy(() =>
  z.object({ name: z.string(), arguments: z.union([z.record(z.string(), z.unknown()), z.string()]).optional() }),
);

const CALL_SPEC: ToolSpec = {
  name: CALL_TOOL,
  description: `Calls a tool found with ${SEARCH_TOOLS}. The arguments must match the schema of that tool.`,
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The exact name of the tool, from the search result." },
      arguments: { type: "object", description: "The arguments for that tool.", properties: {} },
    },
    required: ["name", "arguments"],
  },
  kind: "other",
  readOnly: false,
};

function searchSpec(deferred: readonly BoundTool[]): ToolSpec {
  const counts = new Map<string, number>();
  for (const { source } of deferred) counts.set(source.id, (counts.get(source.id) ?? 0) + 1);
  const named = Array.from(counts, ([id, count]) => `${id} (${count})`);
  const more = named.length > MAX_LISTED_SOURCES ? ` and ${named.length - MAX_LISTED_SOURCES} more` : "";
  return {
    name: SEARCH_TOOLS,
    description:
      `Searches tools by words in their names and descriptions and returns their schemas. Call a result with ${CALL_TOOL}. ` +
      `${deferred.length} tools can be found only with this search, from: ${named.slice(0, MAX_LISTED_SOURCES).join(", ")}${more}.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "A few words that describe the tool, or its name." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `The maximum number of results. Default: ${DEFAULT_RESULTS}.`,
        },
      },
      required: ["query"],
    },
    kind: "search",
    readOnly: true,
  };
}

/**
 * Ranks a match in the name above one in the title, and that above one in the description. Matching all words doubles
 * the score.
 */
function search(deferred: readonly BoundTool[], input: unknown): ToolResult {
  const words = parseQueryWords(input);
  const scored = deferred
    .map((tool) => ({ tool, score: scoreTool(tool.spec, words) }))
    .filter(({ score }) => score > 0 || words.length === 0)
    .sort((a, b) => b.score - a.score); // stable sort: equal scores keep catalog order
  if (scored.length === 0) {
    return { outcome: "ok", text: `no tool matches: ${words.join(" ")}. Try other words, or fewer.` };
  }
  const shown: string[] = [];
  let room = MAX_SEARCH_CHARACTERS;
  for (const { tool } of scored.slice(0, parseResultLimit(input))) {
    const text = formatMatch(tool.spec, room);
    if (text.length > room && shown.length > 0) break;
    room -= text.length;
    shown.push(text);
  }
  const more = scored.length - shown.length;
  return { outcome: "ok", text: `[${shown.join(",\n")}]${more > 0 ? `\n${more} more match.` : ""}` };
}

function formatMatch({ name, description, inputSchema }: ToolSpec, room: number): string {
  const short = description.slice(0, MAX_DESCRIPTION_CHARACTERS);
  const text = JSON.stringify({ name, description: short, inputSchema });
  if (text.length <= room || room < MAX_SEARCH_CHARACTERS) return text;
  return JSON.stringify({ name, description: short, inputSchema: "too long to show" });
}

function scoreTool({ name, title = "", description }: ToolSpec, words: readonly string[]): number {
  const [inName, inTitle, inText] = [
    name.toLowerCase(),
    title.toLowerCase(),
    description.slice(0, MAX_SEARCHED_CHARACTERS).toLowerCase(),
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

/** Splits the query into at most 30 lowercase words. */
function parseQueryWords(input: unknown): string[] {
  const { query } = (input ?? {}) as { query?: unknown };
  if (typeof query !== "string") return [];
  return query
    .slice(0, 1_000)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter(Boolean)
    .slice(0, 30);
}

function parseResultLimit(input: unknown): number {
  const { limit } = (input ?? {}) as { limit?: unknown };
  return typeof limit === "number" && limit >= 1 ? Math.min(Math.floor(limit), MAX_RESULTS) : DEFAULT_RESULTS;
}
