/** `rookery agents`: what can be driven here, and what is missing for the rest. */
import { type Config, loadConfig } from "../config/load.ts";
import type { Call } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { columns } from "./format.ts";
import { type Io, print, printJson, say } from "./io.ts";
import { isSet } from "./options.ts";
import { oneLine } from "./printable.ts";
import { isOnPath, PROGRAMS, readinessOf } from "./readiness.ts";

export async function agents({ io, options }: Call): Promise<ExitCode> {
  const config = await loadConfig({ cwd: io.cwd(), env: io.env, trust: "leave_out" });
  if (config.trust.status === "untrusted") {
    say(io, `${config.root} is not trusted, so its agents are left out; look at it, then: rookery trust`);
  }
  const listed = agentRows(config, io);
  const backends = PROGRAMS.map(({ backend, program }) => ({
    backend,
    program,
    found: isOnPath(program, io.env),
    driven: false,
  }));
  if (isSet(options, "json")) {
    await printJson(io, { agents: listed, backends });
    return EXIT.done;
  }
  const rows = listed.map(({ name, backend, model, isDefault, ready, missing }) => [
    `${isDefault ? "*" : " "} ${name}`,
    backend,
    oneLine(model ?? ""),
    ready ? "ready" : oneLine(missing ?? ""),
  ]);
  const later = backends.map(
    ({ backend, program, found }) => `${backend} (${program} ${found ? "found" : "not found"})`,
  );
  await print(io, `${columns(rows)}\nnot driven by this version yet: ${later.join(", ")}\n`);
  return EXIT.done;
}

function agentRows(config: Config, { env }: Io) {
  return Array.from(config.agents.values(), (agent) => ({
    name: agent.name,
    backend: agent.backend,
    model: agent.model,
    isDefault: agent.name === config.defaults.agent,
    builtIn: agent.builtIn,
    ...readinessOf(agent, env),
  }));
}
