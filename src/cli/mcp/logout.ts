/** `rookery mcp logout`: revokes and deletes the tokens of a server. */
import { resolveServerSpec } from "../../mcp/config/index.ts";
import { Rookery } from "../../rookery.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { print, printJson } from "../io.ts";
import { isSet } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { findDeclaredServer, requireRemoteServer } from "./declared-servers.ts";

/** Works for disabled servers too. */
export async function logOutCommand({ io, args: [name = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  const { declared } = await rookery.declaredServers();
  const spec = requireRemoteServer(
    resolveServerSpec(findDeclaredServer(declared, name), { cwd: io.cwd(), env: io.env }),
  );
  using interrupts = watchInterrupts(io);
  const had = await rookery.authorizer(spec).logout({ signal: interrupts.signal });
  if (isSet(options, "json")) await printJson(io, { server: name, forgotten: had });
  else await print(io, had ? `logged out of ${name}\n` : `not logged in to ${name}\n`);
  return EXIT.done;
}
