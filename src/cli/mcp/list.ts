/** `rookery mcp list`: every server that is declared, how it is doing, and what to do about those that are not ready. */
import { isEnabled } from "../../mcp/config/index.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerState, McpSnapshot } from "../../domain/mcp.ts";
import { Rookery, type ServersFound } from "../../rookery.ts";
import { deadline } from "../../stdx/deadline.ts";
import type { Call, Options } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { columns, count } from "../format.ts";
import { asTyped, type Io, isLively, print, printJson, say } from "../io.ts";
import { countOption, isSet, textOption } from "../options.ts";
import { oneLine, visible } from "../printable.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { noSpinner, startSpinner } from "../run/spinner.ts";
import { reachOf } from "./declared.ts";
import { declining, deskWith } from "./desk.ts";
import { fixFor } from "./fix.ts";

const TIMEOUT_S = 15;

/** As `rookery mcp list --json` has it. */
interface Row {
  readonly name: string;
  readonly status: McpServerState["status"] | "disabled" | "declared";
  readonly source: DeclaredServer["source"];
  readonly file: string;
  readonly reached: string;
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  /** Their names; for resources, their URIs. */
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

export async function listServers({ io, options }: Call): Promise<ExitCode> {
  const seconds = countOption(options, "timeout", 1) ?? TIMEOUT_S;
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  const agent = textOption(options, "agent");
  const found = await rookery.declaredServers({ ...(agent !== undefined && { agent }), untrusted: "leave_out" });
  if (found.trust.status === "untrusted") {
    say(io, `${found.root} is not trusted, so its MCP servers are left out; look at it, then: rookery trust`);
  }
  using interrupts = watchInterrupts(io);
  const offline = isSet(options, "offline");
  const states = offline ? undefined : await looked(io, rookery, found, seconds, interrupts.signal);
  if (interrupts.signal.aborted) return EXIT.cancelled;
  const rows = found.declared.map((declared) => rowOf(declared, found, states));
  await show(io, options, found, rows);
  return EXIT.done;
}

/** All at once; what is not there by then is told of as it is. */
async function looked(
  io: Io,
  rookery: Rookery,
  { specs }: ServersFound,
  seconds: number,
  interrupted: AbortSignal,
): Promise<McpSnapshot> {
  using spinner = isLively(io.stderr, io.env) ? startSpinner(io.stderr) : noSpinner;
  await using servers = await rookery.connectServers(specs, { desk: deskWith(declining) });
  const progress = (): void => {
    const waiting = servers.snapshot().servers.filter(({ status }) => status === "connecting");
    if (waiting.length > 0) spinner.wait(`connecting to ${waiting.map(({ name }) => name).join(", ")}`);
  };
  servers.onChange(progress);
  progress();
  using enough = deadline(seconds * 1_000, interrupted);
  await servers.settled(enough.signal).catch(() => undefined);
  return servers.snapshot();
}

function rowOf(declared: DeclaredServer, { specs }: ServersFound, states: McpSnapshot | undefined): Row {
  const { name, source, file } = declared;
  const about = { name, source, file, reached: reachOf(declared) };
  const nothing = { tools: [], prompts: [], resources: [] };
  if (!isEnabled(declared)) return { ...about, status: "disabled", fix: `enabled = true for mcp.${name}`, ...nothing };
  const spec = specs.find((one) => one.name === name);
  if (spec?.type === "unusable") {
    return { ...about, status: "failed", reason: spec.reason, fix: fixOf(spec.reason), ...nothing };
  }
  const state = states?.servers.find((one) => one.name === name);
  if (state === undefined) return { ...about, status: "declared", ...nothing };
  const { status } = state;
  const reason = state.reason ?? (status === "connecting" ? "it has not answered yet" : undefined);
  const fix = status === "connecting" ? "wait for it longer with --timeout SECONDS" : fixFor(state, about);
  return {
    ...about,
    status,
    ...(reason !== undefined && { reason }),
    ...(fix !== undefined && { fix }),
    tools: state.tools.map((tool) => tool.name),
    prompts: state.prompts.map((prompt) => prompt.name),
    resources: state.resources.map(({ uri }) => uri),
  };
}

/** What is wrong with a declaration names the variable, or the key to correct. */
function fixOf(reason: string): string {
  const [, variable] = /the environment variable (\w+) is not set/.exec(reason) ?? [];
  return variable === undefined ? "correct its declaration" : `export ${variable}=…`;
}

async function show(io: Io, options: Options, { root, trust }: ServersFound, servers: readonly Row[]): Promise<void> {
  if (isSet(options, "json")) return printJson(io, { root, trust: trust.status, servers });
  if (servers.length === 0) {
    if (trust.status === "untrusted") return; // it may declare some, and that was said
    return print(io, "no MCP servers are declared here: add [mcp.NAME] to rookery.toml, or a .mcp.json\n");
  }
  const table = columns(servers.map((row) => [row.name, row.status, offerOf(row), row.source, row.reached].map(cell)));
  const lines = table.trimEnd().split("\n");
  const text = servers.flatMap((row, index) => [lines[index] ?? "", ...detailsOf(row)]);
  await print(io, asTyped(io, `${text.join("\n")}\n`));
}

function cell(text: string): string {
  return oneLine(visible(text), 200);
}

function offerOf({ status, tools, prompts, resources }: Row): string {
  if (status !== "ready") return "";
  const parts = [
    counted(tools.length, "tool"),
    counted(prompts.length, "prompt"),
    counted(resources.length, "resource"),
  ];
  return parts.filter((part, index) => index === 0 || !part.startsWith("0 ")).join(", ");
}

function counted(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

function detailsOf({ reason, fix }: Row): string[] {
  const lines = [...(reason === undefined ? [] : [reason]), ...(fix === undefined ? [] : [`to fix it: ${fix}`])];
  return lines.map((line) => `    ${oneLine(visible(line.replaceAll(/\s+/g, " ")), 500)}`);
}
