/** `rookery mcp call`: calls one tool of a server without a session or a model. */
import { didYouMean } from "../../config/nearest.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { ToolContext, ToolResult } from "../../domain/tools.ts";
import { suggestFix, type ServerLocation } from "../../mcp/describe/fix.ts";
import { formatServerLocation } from "../../mcp/describe/location.ts";
import type { McpServers } from "../../mcp/index.ts";
import { createSessionlessContext, declineQuestions } from "../../mcp/sessionless.ts";
import { Rookery } from "../../rookery.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { type Io, isPersonPresent, isInteractive, print, printJson, printNotice } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { toSingleLine, stripControls } from "../sanitize.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { readStdin } from "../run/prompt.ts";
import { noSpinner, startSpinner } from "../run/spinner.ts";
import { findDeclaredServer, findServerSpec } from "./declared-servers.ts";
import { askAtTerminal } from "./questions.ts";
import { type Attachments, openAttachments } from "./attachments.ts";
import { serverState } from "./server-state.ts";

export async function callToolCommand({
  io,
  args: [name = "", tool = "", json],
  options,
}: CommandCall): Promise<ExitCode> {
  const input = parseToolInput(json === "-" ? await readStdin(io, "the input of the tool") : (json ?? "{}"));
  const attachments = openAttachments(io, textOption(options, "output"));
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  const there = await rookery.declaredServers();
  const spec = findServerSpec(there, name);
  using interrupts = watchInterrupts(io);
  const { signal } = interrupts;
  using progress = startProgress(io);
  const ask = isPersonPresent(io) ? askAtTerminal(io, progress.hold) : declineQuestions;
  const bounds = { textChars: Infinity, firstTries: 1 };
  await using servers = await rookery.connectServers([spec], { betweenTurns: createSessionlessContext(ask), bounds });
  progress.say(`connecting to ${name}`);
  await servers.settled({ signal }).catch(() => undefined);
  if (signal.aborted) return EXIT.cancelled;
  const declared = findDeclaredServer(there.declared, name);
  const found = findTool(servers, { name, file: declared.file, reached: formatServerLocation(declared) }, tool);
  progress.say(`${name}: ${tool}`);
  const context: ToolContext = {
    cwd: io.cwd(),
    marker: "", // a call starts no process
    signal,
    ask,
    putBlob: attachments.keep,
    getBlob: attachments.get,
    record: () => Promise.resolve(),
    progress: (text) => progress.say(`${name}: ${text}`, "always"),
  };
  const result = await found.source.call({ toolId: "call", name: found.name, input }, context);
  progress.hold(true);
  await printResult(io, result, { attachments, json: isSet(options, "json") });
  if (result.outcome === "ok") return EXIT.done;
  return result.outcome === "cancelled" ? EXIT.cancelled : EXIT.failed;
}

function parseToolInput(text: string): unknown {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    input = undefined;
  }
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input;
  throw usageError(
    `the input of a tool must be a JSON object such as '{"path":"README.md"}', or - to read it from stdin`,
  );
}

/** Finds a tool by the name of the server, or by the name that models use. */
function findTool(servers: McpServers, at: ServerLocation, named: string) {
  const server = at.name;
  const state = serverState(servers, server);
  const { status, reason, tools } = state;
  if (status === "needs_login") {
    throw new RookeryError("mcp_login", `${server} requires a login; run: rookery mcp auth ${server}`);
  }
  if (status !== "ready") {
    const fix = suggestFix(state, at);
    const words = [reason ?? status, ...(fix === undefined ? [] : [fix])].join("; ");
    throw new RookeryError("mcp_unavailable", `${server} is not ready: ${words}`);
  }
  const own = new Map(tools.map(({ name }) => [servers.origin(name)?.tool ?? name, name]));
  const name = own.get(named) ?? tools.find((tool) => tool.name === named)?.name;
  const source = servers.sources.find(({ id }) => id === `mcp:${server}`);
  if (name !== undefined && source !== undefined) return { name, source };
  const there = own.size === 0 ? "it has no tools" : `its tools: ${toSingleLine([...own.keys()].join(", "), 500)}`;
  throw usageError(`${server} has no tool "${named}"${didYouMean(named, own.keys())}; ${there}`);
}

async function printResult(
  io: Io,
  result: ToolResult,
  { attachments, json }: { attachments: Attachments; json: boolean },
): Promise<void> {
  const blobs = await attachments.write(result.blobs ?? []);
  if (json) return printJson(io, { ...result, ...(result.blobs !== undefined && { blobs }) });
  const said = blobs.reduce((text, { hash }) => text.replaceAll(`: stored as ${hash}]`, "]"), result.text); // no log keeps it
  const text = io.stdout.isTTY === true ? stripControls(said) : said;
  await print(io, text === "" || text.endsWith("\n") ? text : `${text}\n`);
  for (const { mediaType, path, bytes } of blobs) {
    printNotice(
      io,
      path === undefined ? `${mediaType}, ${bytes} bytes: not saved; save it with --output DIR` : `wrote ${path}`,
    );
  }
  if (result.outcome === "unknown") printNotice(io, "the tool may or may not have run; check before you call it again");
  else if (result.outcome !== "ok" && result.outcome !== "cancelled") printNotice(io, "the tool failed");
}

interface Progress extends Disposable {
  /** Without a terminal, prints only texts with `always`. */
  say(text: string, when?: "always"): void;
  readonly hold: (held: boolean) => void;
}

function startProgress(io: Io): Progress {
  const isDrawn = isInteractive(io.stderr, io.env);
  const spinner = isDrawn ? startSpinner(io.stderr) : noSpinner;
  let held = false;
  let last = "";
  return {
    say(text, when) {
      last = text;
      if (!isDrawn && when === "always") printNotice(io, text);
      else if (!held) spinner.wait(text);
    },
    hold(now) {
      held = now;
      if (held) spinner.clear();
      else spinner.wait(last);
    },
    [Symbol.dispose]: () => spinner[Symbol.dispose](),
  };
}
