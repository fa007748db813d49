// Runs all benchmarks, prints the results and writes them to docs/benchmarks.md. `--quick` is less precise and writes nothing.
import { cpus, totalmem } from "node:os";
import { run as acp } from "./acp.mjs";
import { run as agent } from "./agent.mjs";
import { run as backends } from "./backends.mjs";
import { run as blocking } from "./blocking.mjs";
import { run as chat } from "./chat.mjs";
import { run as cluster } from "./cluster.mjs";
import { writeFigures } from "./document.mjs";
import { run as idle } from "./idle.mjs";
import { run as mcp } from "./mcp.mjs";
import { run as pool } from "./pool.mjs";
import { run as server } from "./server.mjs";
import { run as start } from "./start.mjs";
import { run as store } from "./store.mjs";
import { print } from "./table.mjs";
import { run as tools } from "./tools.mjs";
import { run as web } from "./web.mjs";
import { run as worktrees } from "./worktrees.mjs";

const quick = process.argv.includes("--quick");
const memory = Math.round(totalmem() / 1024 ** 3);
console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${memory} GiB, ${new Date().toISOString()}`,
);
const sections = [];
for (const [title, run] of [
  ["The log", store],
  ["Start", start],
  ["Chat", chat],
  ["Idle sessions", idle],
  ["ACP", acp],
  ["The built-in agent", agent],
  ["Programs", backends],
  ["Tools", tools],
  ["MCP servers", mcp],
  ["Server", server],
  ["Page", web],
  ["Waiting for another session", blocking],
  ["Worktrees", worktrees],
  ["Pool", pool],
  ["Several hosts", cluster],
]) {
  const rows = await run({ quick });
  print(title, rows);
  sections.push([title, rows]);
}
if (!quick) await writeFigures(sections);
