/** `rookery mcp serve`: runs as an MCP server on stdio that offers the tools of an agent, with the permissions of a session. */
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import { RookeryError } from "../../domain/errors.ts";
import { shortId } from "../../domain/ids.ts";
import { reserveStdout } from "../acp/stdout.ts";
import { parseAddedFolders } from "../add-dir.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { printNotice } from "../io.ts";
import { choiceOption, isSet, textOption } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";

export async function serveMcpCommand(call: CommandCall): Promise<ExitCode> {
  if (isSet(call.options, "tasks")) return (await import("./serve-tasks.ts")).serveTasksCommand(call);
  const { io, options } = call;
  if (isSet(options, "allowAnswers")) {
    throw new RookeryError("input_invalid", "--allow-answers needs --tasks: the tools of an agent ask for permission");
  }
  const output = reserveStdout(); // before loading code that may print
  const input = io.stdin as Readable;
  if (io.stdin.isTTY === true)
    printNotice(io, "this command speaks MCP on stdin and stdout and is meant for programs; Ctrl-D ends it");
  const { serveStdio } = await import("../../mcp/endpoint/index.ts");
  const { Rookery } = await import("../../rookery.ts");
  const agent = textOption(options, "agent");
  const folder = textOption(options, "cwd");
  const folders = await parseAddedFolders({ io, options });
  const permissions = choiceOption(options, "permissions", PERMISSION_POLICIES);
  await using rookery = await Rookery.open({ env: io.env });
  using interrupts = watchInterrupts(io);
  await using session = await rookery.openSession({
    cwd: folder === undefined ? io.cwd() : resolve(io.cwd(), folder),
    attended: true, // `rookery answer` can answer
    toolsOnly: true,
    folders,
    ...(agent !== undefined && { agent }),
    ...(permissions !== undefined && { permissions }),
  });
  const id = shortId(session.id);
  printNotice(io, `session ${id} serves its tools; answer its requests with: rookery answer ${id} …`);
  await serveStdio(await session.tools.offer(), { input, output }, { signal: interrupts.signal });
  return EXIT.done;
}
