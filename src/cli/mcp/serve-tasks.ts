/** `rookery mcp serve --tasks`: an MCP server on stdio with which a model orchestrates tasks. This process runs them. */
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { RookeryError } from "../../domain/errors.ts";
import { reserveStdout } from "../acp/stdout.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, formatError, type ExitCode } from "../exit.ts";
import { printNotice } from "../io.ts";
import { isSet, textOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";

/** Options of the tools of an agent, which have no meaning for tasks. */
const OTHER_OPTIONS = { agent: "--agent", addDir: "--add-dir", permissions: "--permissions" };

export async function serveTasksCommand({ io, options }: CommandCall): Promise<ExitCode> {
  for (const [name, flag] of Object.entries(OTHER_OPTIONS)) {
    if (options[name] === undefined) continue;
    throw new RookeryError("input_invalid", `${flag} has no effect with --tasks: start_task has it for each task`);
  }
  const output = reserveStdout(); // before loading code that may print
  const input = io.stdin as Readable;
  if (io.stdin.isTTY === true)
    printNotice(io, "this command speaks MCP on stdin and stdout and is meant for programs; Ctrl-D ends it");
  const [{ serveStdio }, { taskServer }, { listAgents }, { Rookery }, { requireAgentsHere }] = await Promise.all([
    import("../../mcp/endpoint/index.ts"),
    import("../../server/mcp/index.ts"),
    import("../../server/http/agents.ts"),
    import("../../rookery.ts"),
    import("../task/choose-agent.ts"),
  ]);
  const cwd = resolve(io.cwd(), textOption(options, "cwd") ?? ".");
  await using rookery = await Rookery.open({ env: io.env, cwd });
  using interrupts = watchInterrupts(io);
  const stopping = new AbortController();
  const running = rookery.runTasks({
    signal: AbortSignal.any([interrupts.signal, stopping.signal]),
    onProblem: (error) => printNotice(io, formatError(error)),
  });
  const server = taskServer({
    rookery,
    version: io.version,
    answers: isSet(options, "allowAnswers"),
    agents: (folder = cwd) => listAgents({ cwd: folder }, { env: io.env, home: rookery.home }),
    requireReady: async (request) => {
      if (rookery.sharedHost === undefined) await requireAgentsHere(io, request, request.cwd ?? cwd);
    },
  });
  try {
    await serveStdio(server, { input, output }, { signal: interrupts.signal });
  } finally {
    stopping.abort();
    await running;
  }
  return EXIT.done;
}
