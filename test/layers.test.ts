import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

/** The table of ARCHITECTURE.md: which layers each folder of src/ may import besides itself. All may import domain and stdx. */
const ARROWS: Record<string, readonly string[]> = {
  stdx: [],
  domain: [],
  store: [],
  programs: [],
  tools: [],
  effects: [],
  config: [],
  providers: [],
  mcp: ["tools"],
  acp: ["mcp", "programs"],
  agent: ["providers", "effects", "tools"],
  backends: ["acp", "agent", "mcp", "programs", "providers", "tools"],
  session: ["effects"],
  children: ["session"],
  worktrees: ["programs"],
  pool: ["worktrees", "session", "config"],
  client: [],
  testing: ["store"],
  opening: ["children", "config", "backends", "mcp", "session", "tools"],
  demo: ["config", "providers", "worktrees"],
  telemetry: [],
  rookery: ["opening", "config", "backends", "mcp", "pool", "session", "store", "telemetry"],
  "rookery.ts": ["rookery", "opening", "config", "demo", "mcp", "pool", "session", "telemetry"],
  "index.ts": ["rookery.ts", "mcp", "pool", "session", "store", "tools"],
  server: ["acp", "mcp", "rookery.ts", "backends", "config", "pool", "session", "telemetry"],
  cli: [
    "acp",
    "backends",
    "client",
    "demo",
    "mcp",
    "pool",
    "programs",
    "server",
    "rookery.ts",
    "config",
    "session",
    "store",
    "telemetry",
    "testing",
    "worktrees",
  ],
};
const FOR_ALL = ["domain", "stdx"];

/** The only layers that may import these packages. */
const PACKAGES: Record<string, readonly string[]> = {
  ai: [],
  "@ai-sdk/anthropic": ["providers"],
  "@ai-sdk/google": ["providers"],
  "@ai-sdk/openai": ["providers"],
  "@ai-sdk/openai-compatible": ["providers"],
  "@ai-sdk/provider": ["providers"],
  libsql: ["store"],
  pg: ["store"],
  aws4fetch: ["store"],
  "@lydell/node-pty": ["programs"],
  "quickjs-emscripten-core": ["agent"],
  "@jitl/quickjs-wasmfile-release-sync": ["agent"],
  "smol-toml": ["config"],
  hono: ["server"],
  "@hono/node-server": ["server"],
  "@mariozechner/pi-tui": ["cli"],
  marked: ["cli"],
  "openapi-fetch": ["client"],
  "eventsource-parser": ["client"],
  "@modelcontextprotocol/sdk": ["mcp", "acp", "testing"],
  "@agentclientprotocol/sdk": ["acp"],
  "@agentclientprotocol/sdk/unstable": ["acp"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !isForTests(file),
);

it("imports only what the table of layers allows", () => {
  expect(files.flatMap(arrows).filter(({ from, to }) => !allowed(from, to))).toEqual([]);
});

it("imports a package only in the layers that own it", () => {
  const foreign = files.flatMap((file) =>
    specifiers(file)
      .filter((name) => ownersOf(name)?.includes(layerOf(file)) === false)
      .map((name) => `${file} imports ${name}`),
  );
  expect(foreign).toEqual([]);
});

it("has every folder of src/ in the table of layers", () => {
  const unknown = files.map(layerOf).filter((layer) => !(layer in ARROWS));
  expect(unknown).toEqual([]);
});

it("detects an import that the table of layers does not allow", () => {
  expect(allowed("domain", "store")).toBe(false);
  expect(allowed("store", "domain")).toBe(true);
  expect(arrows("session/turn-context.ts")).toContainEqual({ from: "session", to: "effects" });
});

/** Includes the contract suites, unlike `files`. */
const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !basename(file).startsWith("test-"),
);

it("defines each exported name once", () => {
  const definitions = new Map<string, Set<string>>();
  for (const file of sources) {
    for (const name of exportedNames(readFileSync(join(SRC, file), "utf8"))) {
      definitions.set(name, (definitions.get(name) ?? new Set()).add(file));
    }
  }
  const duplicates = [...definitions].filter(([, where]) => where.size > 1);
  expect(duplicates.map(([name, where]) => `${name}: ${[...where].join(", ")}`)).toEqual([]);
});

it("has no import cycle between files, including type imports", () => {
  expect(findCycles(sources, importedFiles)).toEqual([]);
});

it("detects exported names and import cycles", () => {
  const text =
    'export async function a() {}\nexport interface B {}\nexport { c } from "../src/c.ts";\nexport const d = 1;\n';
  expect(exportedNames(text)).toEqual(["a", "B", "d"]);
  const imports: Record<string, readonly string[]> = { a: ["b"], b: ["c"], c: ["b", "d"], d: [] };
  expect(findCycles(Object.keys(imports), (file) => imports[file] ?? [])).toEqual([["b", "c"]]);
});

/** The contract of the backends is a test suite that drives them through all of Rookery. */
function isForTests(file: string): boolean {
  return file.endsWith(".test.ts") || basename(file).startsWith("test-") || file.startsWith("backends/contract/");
}

function allowed(from: string, to: string): boolean {
  if (from === to) return true;
  if (from === "stdx") return false;
  if (from === "domain") return to === "stdx";
  return FOR_ALL.includes(to) || (ARROWS[from]?.includes(to) ?? false);
}

function arrows(file: string): Import[] {
  return specifiers(file)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(SRC, resolve(SRC, dirname(file), specifier)))
    .filter((target) => !target.startsWith(".."))
    .map((target) => ({ from: layerOf(file), to: layerOf(target) }));
}

function specifiers(file: string): string[] {
  const text = readFileSync(join(SRC, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].flatMap(([, specifier]) => specifier ?? []);
}

/** Also finds the owners of a file inside a package. */
function ownersOf(name: string): readonly string[] | undefined {
  return PACKAGES[name] ?? Object.entries(PACKAGES).find(([owned]) => name.startsWith(`${owned}/`))?.[1];
}

function layerOf(file: string): string {
  return file.split("/")[0] ?? file;
}

/** Returns the names that a file defines and exports. A re-export is not a definition. */
function exportedNames(text: string): string[] {
  const definition =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|let|enum) (\w+)/gm;
  return [...text.matchAll(definition)].flatMap(([, name]) => name ?? []);
}

/** Leaves out `import()`: a module that is loaded later may import its importer. */
function importedFiles(file: string): string[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const specifier = /(?:from|import)\s*"(\.[^"]+)"/g;
  return [...text.matchAll(specifier)].map(([, path = ""]) => relative(SRC, resolve(SRC, dirname(file), path)));
}

/** Returns the strongly connected components of more than one file, sorted (Tarjan's algorithm). */
function findCycles(all: readonly string[], importsOf: (file: string) => readonly string[]): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    stack.push(file);
    let lowest = index;
    for (const next of importsOf(file).filter((target) => all.includes(target))) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, order.get(next) ?? index);
    }
    if (lowest === index) {
      const component = stack.splice(stack.indexOf(file));
      if (component.length > 1) cycles.push(component.sort());
    }
    return lowest;
  };
  for (const file of all) if (!order.has(file)) visit(file);
  return cycles;
}
