/** `rookery mcp tools`: lists the tools of a server. */
import { RookeryError } from "../../domain/errors.ts";
import { suggestFix } from "../../mcp/describe/fix.ts";
import { formatServerLocation } from "../../mcp/describe/location.ts";
import { createSessionlessContext, declineQuestions } from "../../mcp/sessionless.ts";
import { Rookery } from "../../rookery.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatColumns } from "../format.ts";
import { print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { toSingleLine } from "../sanitize.ts";
import { withSpinner } from "../task/progress.ts";
import { findDeclaredServer, findServerSpec } from "./declared-servers.ts";
import { serverState } from "./server-state.ts";

const DESCRIPTION_LENGTH = 120;

export async function listToolsCommand({ io, args: [name = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  const there = await rookery.declaredServers();
  const spec = findServerSpec(there, name);
  using interrupts = watchInterrupts(io);
  const betweenTurns = createSessionlessContext(declineQuestions);
  await using servers = await rookery.connectServers([spec], { betweenTurns, bounds: { firstTries: 1 } });
  await withSpinner(io, `connecting to ${name}`, () =>
    servers.settled({ signal: interrupts.signal }).catch(() => undefined),
  );
  if (interrupts.signal.aborted) return EXIT.cancelled;
  const state = serverState(servers, name);
  if (state.status !== "ready") {
    const declared = findDeclaredServer(there.declared, name);
    const fix = suggestFix(state, { name, file: declared.file, reached: formatServerLocation(declared) });
    const words = [state.reason ?? state.status, ...(fix === undefined ? [] : [fix])].join("; ");
    throw new RookeryError("mcp_unavailable", `${name} is not ready: ${words}`);
  }
  const tools = state.tools.map((tool) => ({ ...tool, name: servers.origin(tool.name)?.tool ?? tool.name }));
  if (isSet(options, "json")) for (const tool of tools) await printJson(io, tool);
  else if (tools.length === 0) await print(io, `${toSingleLine(name)} has no tools\n`);
  else {
    const rows = tools.map((tool) => [
      toSingleLine(tool.name, 100),
      toSingleLine(tool.description, DESCRIPTION_LENGTH),
    ]);
    await print(io, formatColumns(rows));
  }
  return EXIT.done;
}
