// Measures how long it takes to collect an agent's tools from 100 sources of 50 tools each, unchanged and after one change.
// Run it with `node bench/tools.mjs [--quick]`.
import { AgentTools } from "../dist/tools/index.js";
import { median, printAlone } from "./table.mjs";

const SOURCES = 100;
const TOOLS = 50;
const REBUILD_MS = 30;

export async function run({ quick = false } = {}) {
  const rounds = quick ? 20 : 200;
  const first = [];
  for (let round = 0; round < rounds / 10; round += 1) {
    const fresh = makeSources();
    first.push(timed(() => agentWith(fresh).artifact()));
  }
  const sources = makeSources();
  const tools = agentWith(sources);
  return [
    { name: `first catalog of ${SOURCES} × ${TOOLS} tools, every schema new`, value: median(first), unit: "ms" },
    unchanged(tools, rounds * 50),
    rebuilt("rebuild after one tool of one source changed", tools, sources, rounds, 1),
    rebuilt("rebuild after every tool of one source changed", tools, sources, rounds, TOOLS),
    equalList(tools, sources, rounds),
    searched(tools, rounds),
  ];
}

function unchanged(tools, reads) {
  const before = tools.artifact();
  let same = true;
  const took = timed(() => {
    for (let read = 0; read < reads; read += 1) same &&= tools.artifact() === before;
  });
  return { name: "unchanged catalog", value: (took / reads) * 1000, unit: "µs", target: "the same object", ok: same };
}

function rebuilt(name, tools, sources, rounds, changed) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const source = sources[round % SOURCES];
    const before = tools.artifact();
    source.set(specsOf(source.id, `${name} ${round}`, changed));
    times.push(timed(() => tools.artifact()));
    if (tools.artifact() === before) throw new Error("nothing changed");
  }
  const value = median(times);
  return { name, value, unit: "ms", target: `≤ ${REBUILD_MS} ms`, ok: value <= REBUILD_MS };
}

/** A source that reports a change and returns a new list with the same tools. */
function equalList(tools, sources, rounds) {
  const times = [];
  let same = true;
  const [source] = sources;
  source.set(specsOf(source.id, "equal", TOOLS));
  const before = tools.artifact();
  for (let round = 0; round < rounds; round += 1) {
    source.set(specsOf(source.id, "equal", TOOLS));
    times.push(timed(() => (same &&= tools.artifact() === before)));
  }
  return {
    name: "a source lists the same again",
    value: median(times),
    unit: "ms",
    target: "the same object",
    ok: same,
  };
}

function searched(tools, rounds) {
  const artifact = tools.artifact();
  const find = () => artifact.describe({ toolId: "1", name: "source_50__tool_25", input: {} });
  const took = timed(() => {
    for (let round = 0; round < rounds; round += 1) find();
  });
  return { name: "finding a tool by name", value: (took / rounds) * 1000, unit: "µs" };
}

function agentWith(sources) {
  const tools = new AgentTools();
  for (const source of sources) tools.add(source);
  return tools;
}

function makeSources() {
  return Array.from({ length: SOURCES }, (_, index) => sourceOf(`source_${index}`));
}

function sourceOf(id) {
  const listeners = new Set();
  let list = specsOf(id, "first", TOOLS);
  return {
    id,
    list: () => list,
    describe: ({ name }) => ({ title: name }),
    call: ({ name }) => Promise.resolve({ outcome: "ok", text: name }),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set: (next) => {
      list = next;
      for (const listener of listeners) listener();
    },
  };
}

/** Tool descriptions of typical length, about 700 characters each. */
function specsOf(id, version, changed) {
  return Array.from({ length: TOOLS }, (_, index) => ({
    name: `${id}__tool_${index}`,
    description: `Does ${index < changed ? version : "first"} ${index}. `.padEnd(
      240,
      "What it does is described at some length. ",
    ),
    kind: "other",
    readOnly: false,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        ["owner", "repo", "path", "query", "page"].map((name) => [
          name,
          { type: "string", description: `The ${name} that is meant, as it is written elsewhere` },
        ]),
      ),
      required: ["owner", "repo"],
      additionalProperties: false,
    },
  }));
}

function timed(work) {
  const started = performance.now();
  work();
  return performance.now() - started;
}

await printAlone(import.meta.url, "Tools", run);
