/** `rookery mcp list`: prints the declared servers with their status and how to fix problems. */
import { describeServer, type DescribedServer } from "../../mcp/describe/server.ts";
import { createSessionlessContext, declineQuestions } from "../../mcp/sessionless.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpSnapshot } from "../../domain/mcp.ts";
import { Rookery, type ServersFound } from "../../rookery.ts";
import { deadline } from "../../stdx/deadline.ts";
import type { CommandCall, OptionValues } from "../command.ts";
import { displayWidth, truncateToWidth } from "../display-width.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns, formatCount } from "../format.ts";
import { type Io, isInteractive, printJson, printNotice, printText, terminalWidth } from "../io.ts";
import { countOption, isSet, textOption } from "../options.ts";
import { toSingleLine, escapeInvisible } from "../sanitize.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { noSpinner, startSpinner } from "../run/spinner.ts";

const TIMEOUT_S = 15;

/** A server in the output of `rookery mcp list --json`. */
export interface ServerRow extends Omit<DescribedServer, "state"> {
  /** Names of tools and prompts; URIs of resources. */
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

export async function listServersCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const seconds = countOption(options, "timeout", 1) ?? TIMEOUT_S;
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  const agent = textOption(options, "agent");
  const found = await rookery.declaredServers({ ...(agent !== undefined && { agent }), untrusted: "leave_out" });
  if (found.trust.status === "untrusted") {
    printNotice(
      io,
      `${found.root} is not trusted, so its MCP servers are not listed; review it, then run: rookery trust`,
    );
  }
  using interrupts = watchInterrupts(io);
  const offline = isSet(options, "offline");
  const states = offline ? undefined : await connectAndInspect(io, rookery, found, seconds, interrupts.signal);
  if (interrupts.signal.aborted) return EXIT.cancelled;
  const rows = found.declared.map((declared) => toServerRow(declared, found, states));
  await printServers(io, options, found, rows);
  return EXIT.done;
}

/** Connects to all servers concurrently. Reports servers that miss the timeout as they are. */
async function connectAndInspect(
  io: Io,
  rookery: Rookery,
  { specs }: ServersFound,
  seconds: number,
  interrupted: AbortSignal,
): Promise<McpSnapshot> {
  using spinner = isInteractive(io.stderr, io.env) ? startSpinner(io.stderr) : noSpinner;
  await using servers = await rookery.connectServers(specs, {
    betweenTurns: createSessionlessContext(declineQuestions),
  });
  const progress = (): void => {
    const waiting = servers.snapshot().servers.filter(({ status }) => status === "connecting");
    if (waiting.length > 0) spinner.wait(`connecting to ${waiting.map(({ name }) => name).join(", ")}`);
  };
  servers.onChange(progress);
  progress();
  using enough = deadline(seconds * 1_000, interrupted);
  await servers.settled({ signal: enough.signal }).catch(() => undefined);
  return servers.snapshot();
}

function toServerRow(declared: DeclaredServer, { specs }: ServersFound, states: McpSnapshot | undefined): ServerRow {
  const { state, ...row } = describeServer(declared, specs, states);
  return {
    ...row,
    ...(row.status === "connecting" && { fix: "wait longer with --timeout SECONDS" }),
    tools: (state?.tools ?? []).map((tool) => tool.name),
    prompts: (state?.prompts ?? []).map((prompt) => prompt.name),
    resources: (state?.resources ?? []).map(({ uri }) => uri),
  };
}

async function printServers(
  io: Io,
  options: OptionValues,
  { root, trust }: ServersFound,
  servers: readonly ServerRow[],
): Promise<void> {
  if (isSet(options, "json")) return printJson(io, { root, trust: trust.status, servers });
  if (servers.length === 0) {
    if (trust.status === "untrusted") return; // the notice about trust was already printed
    const how = "rookery mcp add NAME -- COMMAND, or a .mcp.json in the repository";
    return printText(io, `no MCP servers are declared here; add one: ${how}\n`);
  }
  await printText(io, formatServerTable(servers, terminalWidth(io.stdout)));
}

const SOURCE_COLUMN = 3;
const MIN_REACHED_WIDTH = 20;

/**
 * One line per server, then what is wrong with it. A narrow terminal gets no column for the source, and the start of the
 * command or URL.
 */
export function formatServerTable(servers: readonly ServerRow[], width = Infinity): string {
  const all = servers.map((row) => [row.name, row.status, formatOffer(row), row.source, row.reached].map(formatCell));
  const before = (rows: readonly (readonly string[])[]) =>
    Math.max(
      ...formatColumns(rows.map((row) => [...row.slice(0, -1), "|"]))
        .split("\n")
        .map(displayWidth),
    ) - 1;
  const isNarrow = width - before(all) < MIN_REACHED_WIDTH;
  const rows = isNarrow ? all.map((row) => row.filter((_, column) => column !== SOURCE_COLUMN)) : all;
  const room = Math.max(MIN_REACHED_WIDTH, width - before(rows));
  const table = formatColumns(rows.map((row) => [...row.slice(0, -1), truncateToWidth(row.at(-1) ?? "", room)]));
  const lines = table.trimEnd().split("\n");
  const text = servers.flatMap((row, index) => [lines[index] ?? "", ...formatServerDetails(row)]);
  return `${text.join("\n")}\n`;
}

function formatCell(text: string): string {
  return toSingleLine(escapeInvisible(text), 200);
}

function formatOffer({ status, tools, prompts, resources }: ServerRow): string {
  if (status !== "ready") return "";
  const parts = [
    formatQuantity(tools.length, "tool"),
    formatQuantity(prompts.length, "prompt"),
    formatQuantity(resources.length, "resource"),
  ];
  return parts.filter((part, index) => index === 0 || !part.startsWith("0 ")).join(", ");
}

function formatQuantity(number: number, what: string): string {
  return `${formatCount(number)} ${what}${number === 1 ? "" : "s"}`;
}

function formatServerDetails({ reason, fix }: ServerRow): string[] {
  const lines = [...(reason === undefined ? [] : [reason]), ...(fix === undefined ? [] : [`fix: ${fix}`])];
  return lines.map((line) => `    ${toSingleLine(escapeInvisible(line.replaceAll(/\s+/g, " ")), 500)}`);
}
