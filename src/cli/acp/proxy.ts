/** `rookery acp proxy`: runs between an editor and an agent, and adds the MCP servers of a file to every session. */
import { startAgent } from "../../programs/index.ts";
import type { Proxy, ProxyOptions } from "../../acp/proxy/index.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, printNotice } from "../io.ts";
import { listOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { openOwnedPrograms } from "./owned-programs.ts";
import { stdioTransport } from "./stdio.ts";
import { openTraceFile } from "./trace-file.ts";

export async function proxyCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const transport = stdioTransport(io);
  const command = args.filter((word) => word !== undefined);
  const { openProxy, openProxyComponent } = await import("../../acp/proxy/index.ts");
  const wanted = await proxyOptions(io, listOption(options, "mcp"));
  await using file = openTraceFile(io, options);
  const client = { transport, trace: file.trace };
  if (command.length === 0) {
    await runUntilClosed(io, openProxyComponent({ ...client, peer: "the conductor" }, wanted));
    return EXIT.done;
  }
  await using programs = await openOwnedPrograms(io);
  await using agent = await startAgent(programs.command(command));
  let left = false;
  io.stdin.once("end", () => (left = true));
  const proxyCommand = openProxy(client, { transport: agent.transport, exit: () => agent.exit() }, wanted);
  const interrupted = await runUntilClosed(io, proxyCommand);
  const { exitCode, signal } = await agent.close();
  if (left || interrupted) return EXIT.done;
  printNotice(io, `the agent exited (${signal === null ? `exit code ${exitCode ?? "unknown"}` : `signal ${signal}`})`);
  return EXIT.failed;
}

/** Resolves when the client disconnects or a signal arrives; true for a signal. */
async function runUntilClosed(io: Io, proxyCommand: Proxy): Promise<boolean> {
  using interrupts = watchInterrupts(io);
  interrupts.signal.addEventListener("abort", () => void proxyCommand.close());
  await proxyCommand.closed;
  return interrupts.signal.aborted;
}

async function proxyOptions(io: Io, files: readonly string[]): Promise<ProxyOptions> {
  if (files.length === 0) return {};
  const { readMcpFile } = await import("../../acp/mcp/index.ts");
  const servers = await Promise.all(files.map((file) => readMcpFile(file, io.env)));
  return { mcpServers: servers.flat(), bridge: [process.execPath, process.argv[1] ?? "", "acp", "mcp-bridge"] };
}
