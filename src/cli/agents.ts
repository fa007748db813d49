/** `rookery agents`: lists the agents you can use here, and what the others need. */
import { join } from "node:path";
import { findPrograms, type FoundProgram } from "../backends/installed/index.ts";
import type { AgentConfig } from "../config/agent.ts";
import { homeFolder } from "../config/home.ts";
import { keyVariableNames, loadConfig } from "../config/load.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { displayWidth } from "./display-width.ts";
import { formatColumns } from "./format.ts";
import { hasColor, print, printJson, printNotice, printText, terminalWidth } from "./io.ts";
import { isSet } from "./options.ts";
import { ansiPaint, type Paint, plainPaint } from "./paint.ts";
import { toSingleLine } from "./sanitize.ts";
import { checkReadiness, type Readiness, readyAgents, withReadyDefault } from "../backends/readiness.ts";

interface AgentRow extends Readiness {
  readonly name: string;
  readonly backend: AgentConfig["backend"];
  readonly model: string | undefined;
  readonly isDefault: boolean;
  readonly builtIn: boolean;
  /** Undefined for the built-in agent. */
  readonly program: FoundProgram | undefined;
}

export async function agentsCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const here = { env: io.env, cwd: io.cwd() };
  const config = withReadyDefault(await loadConfig({ ...here, trust: "leave_out" }), here);
  if (config.trust.status === "untrusted") {
    printNotice(io, `${config.root} is not trusted, so its agents are not listed; review it, then run: rookery trust`);
  }
  const programs = await findPrograms(config.agents.values(), {
    ...here,
    keys: keyVariableNames(config),
    cacheFolder: join(homeFolder(io.env), "cache"),
  });
  const { providers } = config;
  const rows = Array.from(config.agents.values(), (agent): AgentRow => {
    const { name, backend, model, builtIn } = agent;
    const isDefault = name === config.defaults.agent;
    return {
      name,
      backend,
      model,
      isDefault,
      builtIn,
      ...checkReadiness(agent, { ...here, providers }),
      program: programs.get(name),
    };
  });
  if (isSet(options, "json")) {
    await printJson(io, { agents: rows });
    return EXIT.done;
  }
  const issues = knownIssues(rows);
  const notes = [
    ...rows.flatMap(agentAdvice),
    ...suggestReadyAgent(rows, readyAgents(config, here)),
    ...(isSet(options, "issues") ? issues : []),
    ...(isSet(options, "issues") || issues.length === 0 ? [] : [countIssues(issues.length)]),
  ];
  const paint = hasColor(io) ? ansiPaint : plainPaint;
  await print(io, formatAgentTable(rows, { width: terminalWidth(io.stdout), paint }));
  if (notes.length > 0) await printText(io, `\n${notes.map((note) => `${toSingleLine(note)}\n`).join("")}`);
  return EXIT.done;
}

const CELL = 34;
/** Cells that a narrow terminal does not show, in this order: backend, login, program. */
const DROPPED_CELLS = [1, 3, 2];

const HEAD = ["  agent", "kind", "model or program", "login", "state"];

function formatAgentTable(
  rows: readonly AgentRow[],
  { width = Infinity, paint }: { readonly width: number | undefined; readonly paint: Paint },
): string {
  const cells = [HEAD, ...rows.map(agentCells)];
  const dropped = new Set<number>();
  const format = () => formatColumns(cells.map((row) => row.filter((_, column) => !dropped.has(column))));
  for (const column of DROPPED_CELLS) {
    if (Math.max(...format().split("\n").map(displayWidth)) <= width) break;
    dropped.add(column);
  }
  const lines = format().trimEnd().split("\n");
  const legend = rows.some(({ isDefault }) => isDefault) ? [paint("dim", "* the default agent")] : [];
  const painted = lines.map((line, index) => {
    if (index === 0 || rows[index - 1]?.ready !== true) return paint("dim", line);
    return line.replace(/ready$/, (state) => paint("green", state));
  });
  return `${[...painted, ...legend].join("\n")}\n`;
}

function agentCells({ isDefault, name, backend, model, ready, program }: AgentRow): string[] {
  return [
    `${isDefault ? "*" : " "} ${name}`,
    backend,
    toSingleLine(program === undefined ? (model ?? "") : programCell(program), CELL),
    program?.login?.state ?? "",
    ready ? "ready" : "not ready",
  ];
}

const PROGRAM_LOCATIONS = { configured: "as configured", path: "on the PATH", node_modules: "in node_modules" };

function programCell({ program, from, version, is }: FoundProgram): string {
  if (from === undefined) return `${program} not found`;
  if (version === undefined) return `${program} ${PROGRAM_LOCATIONS[from]}`;
  return `${version}${is === "tested" ? "" : ` (${is})`} ${PROGRAM_LOCATIONS[from]}`;
}

function agentAdvice({ name, missing, program }: AgentRow): string[] {
  const { version, tested, is, path, from } = program ?? {};
  const other = is === "newer" || is === "older";
  const silent = from === "path" && tested !== undefined && version === undefined;
  return [
    ...(missing === undefined ? [] : [`${name}: ${missing.replace(`${name} was not found`, "not found")}`]),
    ...(other ? [`${name}: ${path ?? ""} is ${is} (${version ?? ""}) than the tested version (${tested ?? ""})`] : []),
    ...(silent ? [`${name}: ${path ?? ""} does not print its version; check: ${path ?? ""} --version`] : []),
  ];
}

function suggestReadyAgent(rows: readonly AgentRow[], [first]: readonly string[]): string[] {
  const meant = rows.find(({ isDefault }) => isDefault);
  if (first === undefined) return ["No agent is ready. Try Rookery without one: rookery demo"];
  if (meant === undefined || meant.ready) return [];
  return [`${meant.name} is the default agent but not ready; use a ready one: rookery run "…" --agent ${first}`];
}

function countIssues(count: number): string {
  const what = count === 1 ? "1 known issue of these programs" : `${count} known issues of these programs`;
  return `${what}: rookery agents --issues`;
}

function knownIssues(rows: readonly AgentRow[]): string[] {
  const said = rows.flatMap(({ program }) => {
    const { known: facts = [], version = "" } = program ?? {};
    return facts.map((fact) => `known issue of ${program?.program ?? ""} ${version}: ${fact}`);
  });
  return [...new Set(said)];
}
