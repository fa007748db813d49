// Records real programs. For ACP agents: one turn with a permission request, into recorded/. For programs with a
// dedicated backend: every case of the contract, into test/support/recorded/, for the stand-ins to replay.
// Usage: node e2e/record.mjs [NAME…]; a name is an ACP agent, with the suffix -v2 for the draft of the protocol, or
// a program.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { agents } from "./agents/index.mjs";
import { PROMPTS } from "./agents/model.mjs";
import { install } from "./install.mjs";
import { choose, openScene } from "./scene.mjs";
import { within } from "./wire.mjs";

const VERSIONS = {
  1: {
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: client(),
  },
  2: { capabilities: {}, info: client() },
};

install();
const wanted = process.argv.slice(2);
for (const agent of agents) {
  for (const version of agent.protocolVersions) {
    const name = version === 1 ? agent.name : `${agent.name}-v${version}`;
    if (wanted.length === 0 || wanted.includes(name)) await record(agent, version, name);
  }
}

const programs = ["claude", "codex", "codex-exec", "gemini", "gemini-headless", "opencode"].filter(
  (name) => wanted.length === 0 || wanted.includes(name),
);
if (programs.length > 0) process.exitCode = recordContract(programs);

/** A failed case keeps its old recording. Handwritten recordings are not changed. */
function recordContract(names) {
  const args = ["vitest", "run", "--config", "e2e/vitest.config.ts", "e2e/contract.test.ts"];
  const env = { ...process.env, RECORD: "1", PROGRAM: names.join(",") };
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  return spawnSync("npx", args, { cwd, env, stdio: "inherit" }).status ?? 1;
}

async function record(agent, version, name) {
  const scene = await openScene(agent);
  try {
    const connection = scene.start(choose("allow_once"));
    await ask(connection, "initialize", { protocolVersion: version, ...VERSIONS[version] });
    const { sessionId } = await ask(connection, "session/new", { cwd: scene.cwd, mcpServers: [] });
    const prompt = [{ type: "text", text: PROMPTS.permission }];
    await ask(connection, "session/prompt", { sessionId, prompt });
    if (version > 1) await connection.seen(({ message }) => message.params?.update?.state === "idle");
    if (!scene.made()) throw new Error(`${name} did not create the file`);
    connection.endInput();
    await within(10_000, `the end of ${name}`, connection.exited);
    const lines = connection.trace.map((entry) => `${withoutPlaces(JSON.stringify(entry, withoutProse), scene)}\n`);
    writeFileSync(new URL(`recorded/${name}.ndjson`, import.meta.url), lines.join(""));
    process.stdout.write(`${name}: ${lines.length} messages\n`);
  } finally {
    await scene[Symbol.asyncDispose]();
  }
}

async function ask(connection, method, params) {
  const { result, error } = await connection.request(method, params);
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

/** Shortens the vendor's descriptions of models and commands; only the structure of a message matters. */
function withoutProse(key, value) {
  return key === "description" && typeof value === "string" && value.length > 40 ? "(shortened)" : value;
}

function withoutPlaces(line, { root, model }) {
  return line.replaceAll(root, "/scene").replaceAll(model.url, "http://127.0.0.1:1");
}

function client() {
  return { name: "rookery-e2e", version: "0.0.0" };
}
