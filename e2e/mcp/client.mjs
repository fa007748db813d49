// The program that the conformance tool starts: runs Rookery's MCP client through a scenario.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuthorizers } from "../../src/mcp/oauth/index.ts";
import { openServers } from "../../src/mcp/index.ts";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const folder = mkdtempSync(join(tmpdir(), "rookery-conformance-"));
const signal = AbortSignal.timeout(25_000);
const MAX_LOGINS = 3;

/** A URL as client id means a Client ID Metadata Document. We publish none, so the URL is configured. */
const oauth =
  scenario === "auth/basic-cimd"
    ? { clientId: "https://conformance-test.local/client-metadata.json" }
    : context.client_id !== undefined
      ? { clientId: context.client_id, clientSecret: context.client_secret }
      : undefined;

const record = (...bodies) => bodies.forEach((body) => process.stderr.write(`${JSON.stringify(body)}\n`));
/** Simulates a user who opens each page immediately and accepts each form with its defaults. */
const ask = async (question, options = {}) => {
  if (question.url === undefined) return { action: "accept", content: defaultsOf(question.schema) };
  await (await fetch(question.url)).text();
  await options.completed;
  return { action: "accept" };
};
const defaultsOf = (schema) =>
  Object.fromEntries(
    Object.entries(schema?.properties ?? {}).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
const toolContext = {
  ...{ cwd: folder, signal, marker: "conformance", ask, record: async (...bodies) => record(...bodies) },
  ...{ progress() {}, putBlob: async () => "blob", getBlob: async () => undefined },
};
const betweenTurns = { attended: true, record, ask, permit: async () => ({ allowed: true }) };

const authorizers = openAuthorizers({ folder, loginTimeoutMs: 10_000 });
const servers = openServers({
  servers: [{ type: "http", name: "conformance", url, headers: {}, ...(oauth && { oauth }) }],
  cwd: folder,
  env: {},
  marker: "conformance",
  authorizer: (spec) => authorizers.for(spec),
});
try {
  servers.attach(betweenTurns);
  await ready();
  for (const { name } of servers.sources[0].list()) await call(name);
} finally {
  await servers[Symbol.asyncDispose]();
  await authorizers[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}

/** The session starts the first login; this only waits for its result. */
async function ready() {
  for (;;) {
    const [{ status, reason = "" }] = servers.snapshot().servers;
    if (status === "ready") return;
    if (status === "failed" || /the login (failed|was)/.test(reason)) throw new Error(`${status}: ${reason}`);
    await changed();
  }
}

async function changed() {
  await new Promise((resolve, reject) => {
    const stop = servers.onChange(() => {
      stop();
      resolve();
    });
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

async function call(name) {
  const input = name.endsWith("add_numbers") ? { a: 5, b: 3 } : {};
  for (let logins = 0; logins <= MAX_LOGINS; logins++) {
    const result = await servers.sources[0].call({ toolId: "1", name, input }, toolContext);
    record({ name, result });
    if (!result.text.includes("requires a login")) return;
    const outcome = await servers.login("conformance", { signal });
    if (outcome.status !== "done") throw new Error(JSON.stringify(outcome));
    await ready();
  }
}
