/** `rookery acp`: runs as an ACP agent on stdio for editors. */
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, formatError } from "../exit.ts";
import { printNotice } from "../io.ts";
import { textOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { stdioTransport } from "./stdio.ts";
import { openTraceFile } from "./trace-file.ts";

export async function serveAcpCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const transport = stdioTransport(io); // before loading code that may print
  const { openDoor } = await import("../../server/acp/index.ts");
  const { Rookery } = await import("../../rookery.ts");
  await using file = openTraceFile(io, options);
  await using rookery = await Rookery.open({ env: io.env });
  using interrupts = watchInterrupts(io);
  const service = openDoor({
    rookery,
    transport,
    trace: file.trace,
    env: io.env,
    cwd: io.cwd(),
    version: io.version,
    agent: textOption(options, "agent"),
    onFailure: (error) => printNotice(io, formatError(error)),
  });
  interrupts.signal.addEventListener("abort", () => void service.close());
  await service.ended;
  return EXIT.done;
}
