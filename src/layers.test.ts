import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SRC = fileURLToPath(new URL(".", import.meta.url));

/** The arrows of ARCHITECTURE.md: what each folder of src/ may import beside itself. Everything may import domain and stdx. */
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
  "rookery.ts": ["opening", "config", "backends", "mcp", "pool", "session", "store"],
  "index.ts": ["rookery.ts", "mcp", "pool", "session", "store", "tools"],
  server: ["acp", "rookery.ts", "backends", "config", "pool", "session"],
  cli: [
    "acp",
    "backends",
    "client",
    "mcp",
    "pool",
    "programs",
    "server",
    "rookery.ts",
    "config",
    "session",
    "store",
    "testing",
    "worktrees",
  ],
};
const FOR_ALL = ["domain", "stdx"];

/** Only these folders know these packages. */
const PACKAGES: Record<string, readonly string[]> = {
  ai: [],
  "@ai-sdk/anthropic": ["providers"],
  "@ai-sdk/google": ["providers"],
  "@ai-sdk/openai": ["providers"],
  "@ai-sdk/openai-compatible": ["providers"],
  "@ai-sdk/provider": ["providers"],
  libsql: ["store"],
  "@lydell/node-pty": ["programs"],
  "quickjs-emscripten-core": ["agent"],
  "@jitl/quickjs-wasmfile-release-sync": ["agent"],
  "smol-toml": ["config"],
  hono: ["server"],
  "@hono/node-server": ["server"],
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

it("no file imports against the arrows of the map", () => {
  expect(files.flatMap(arrows).filter(({ from, to }) => !allowed(from, to))).toEqual([]);
});

it("only the folder that owns a package imports it", () => {
  const foreign = files.flatMap((file) =>
    specifiers(file)
      .filter((name) => ownersOf(name)?.includes(layerOf(file)) === false)
      .map((name) => `${file} imports ${name}`),
  );
  expect(foreign).toEqual([]);
});

it("every folder of src/ is on the map", () => {
  const unknown = files.map(layerOf).filter((layer) => !(layer in ARROWS));
  expect(unknown).toEqual([]);
});

it("an arrow that the map does not have is noticed", () => {
  expect(allowed("domain", "store")).toBe(false);
  expect(allowed("store", "domain")).toBe(true);
  expect(arrows("session/turn-context.ts")).toContainEqual({ from: "session", to: "effects" });
});

/** The contract of backends is a suite: it drives them as everyone does, through the whole of Rookery. */
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

/** Also of a file within a package. */
function ownersOf(name: string): readonly string[] | undefined {
  return PACKAGES[name] ?? Object.entries(PACKAGES).find(([owned]) => name.startsWith(`${owned}/`))?.[1];
}

function layerOf(file: string): string {
  return file.split("/")[0] ?? file;
}
