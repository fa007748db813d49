// The program that the conformance tool starts: Rookery's MCP client does what the scenario wants of a client.
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

/** A URL as client id is how a Client ID Metadata Document is used; we publish none, so it is a configured one. */
const oauth =
  scenario === "auth/basic-cimd"
    ? { clientId: "https://conformance-test.local/client-metadata.json" }
    : context.client_id !== undefined
      ? { clientId: context.client_id, clientSecret: context.client_secret }
      : undefined;

const record = (...bodies) => bodies.forEach((body) => process.stderr.write(`${JSON.stringify(body)}\n`));
/** A person who opens each page at once, and takes each form as it is proposed. */
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
const desk = { attended: true, record, ask, permit: async () => ({ allowed: true }) };

const authorizers = openAuthorizers({ folder, loginTimeoutMs: 10_000 });
const servers = openServers({
  servers: [{ type: "http", name: "conformance", url, headers: {}, ...(oauth && { oauth }) }],
  cwd: folder,
  env: {},
  marker: "conformance",
  authorizer: (spec) => authorizers.for(spec),
});
try {
  servers.attach(desk);
  await ready();
  for (const { name } of servers.sources[0].list()) await call(name);
} finally {
  await servers[Symbol.asyncDispose]();
  await authorizers[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}

/** The first login is offered by the session's desk; only how it ends is waited for. */
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
    const outcome = await servers.login("conformance", signal);
    if (outcome.status !== "done") throw new Error(JSON.stringify(outcome));
    await ready();
  }
}
