/** `rookery acp conductor`: runs a chain of proxies and an agent as one agent. */
import { commandComponent, openConductor } from "../../acp/conductor/index.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { printNotice } from "../io.ts";
import { listOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { openOwnedPrograms } from "./owned-programs.ts";
import { stdioTransport } from "./stdio.ts";
import { openTraceFile } from "./trace-file.ts";
import { splitCommandLine } from "./split-command-line.ts";

export async function conductorCommand({ io, args, options }: CommandCall): Promise<ExitCode> {
  const agent = args.filter((word) => word !== undefined);
  const proxies = listOption(options, "proxy").map(splitCommandLine);
  if (agent.length === 0 && proxies.length === 0) {
    throw usageError("nothing to run: name the agent after --, and each proxy with --proxy");
  }
  const transport = stdioTransport(io);
  await using file = openTraceFile(io, options);
  await using programs = await openOwnedPrograms(io);
  const component = (words: readonly string[]) => commandComponent(words.join(" "), programs.command(words));
  await using chain = openConductor({
    client: { transport, trace: file.trace },
    proxies: proxies.map(component),
    agent: agent.length === 0 ? undefined : component(agent),
    onDeath: (name, { message }) => printNotice(io, `${name}: ${message}`),
  });
  using interrupts = watchInterrupts(io);
  interrupts.signal.addEventListener("abort", () => void chain.close());
  await chain.closed;
  return EXIT.done;
}
