/** `rookery acp conductor`: runs a chain of proxies in front of an agent, and is one agent to the editor. */
import { commandComponent, openConductor } from "../../acp/conductor/index.ts";
import type { Call } from "../command.ts";
import { EXIT, type ExitCode, usage } from "../exit.ts";
import { say } from "../io.ts";
import { listOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { ownPrograms } from "./owned.ts";
import { stdioTransport } from "./stdio.ts";
import { openTraceFile } from "./trace-file.ts";
import { splitWords } from "./words.ts";

export async function conductor({ io, args, options }: Call): Promise<ExitCode> {
  const agent = args.filter((word) => word !== undefined);
  const proxies = listOption(options, "proxy").map(splitWords);
  if (agent.length === 0 && proxies.length === 0) {
    throw usage("there is nothing to run: name the agent after --, and each proxy with --proxy");
  }
  const transport = stdioTransport(io);
  await using file = openTraceFile(io, options);
  await using programs = await ownPrograms(io);
  const component = (words: readonly string[]) => commandComponent(words.join(" "), programs.command(words));
  await using chain = openConductor({
    client: { transport, trace: file.trace },
    proxies: proxies.map(component),
    agent: agent.length === 0 ? undefined : component(agent),
    onDeath: (name, { message }) => say(io, `${name}: ${message}`),
  });
  using interrupts = watchInterrupts(io);
  interrupts.signal.addEventListener("abort", () => void chain.close());
  await chain.closed;
  return EXIT.done;
}
