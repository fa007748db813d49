/** `rookery mcp auth`: logs in to a server through a page that a person opens. */
import { RookeryError } from "../../domain/errors.ts";
import type { LoginOutcome, McpServerState, RemoteServerSpec } from "../../domain/mcp.ts";
import type { McpServers } from "../../mcp/index.ts";
import { createSessionlessContext } from "../../mcp/sessionless.ts";
import { Rookery } from "../../rookery.ts";
import { deadline } from "../../stdx/deadline.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, print, printJson, printNotice } from "../io.ts";
import { countOption, isSet } from "../options.ts";
import { watchInterrupts } from "../run/interrupts.ts";
import { requireRemoteServer, findServerSpec } from "./declared-servers.ts";
import { showLoginPage } from "./login-page.ts";
import { serverState, waitWhileStatus } from "./server-state.ts";

/** Default of --timeout. */
const LOGIN_S = 300;
/** Timeout of the check after the login. */
const CHECK_MS = 15_000;

export async function logInCommand({ io, args: [name = ""], options }: CommandCall): Promise<ExitCode> {
  const seconds = countOption(options, "timeout", 1) ?? LOGIN_S;
  const json = isSet(options, "json");
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd() });
  const spec = requireRemoteServer(findServerSpec(await rookery.declaredServers(), name));
  using interrupts = watchInterrupts(io);
  const { signal } = interrupts;
  const betweenTurns = createSessionlessContext(showLoginPage(io, { json, seconds }));
  await using servers = await rookery.connectServers([spec], { betweenTurns, bounds: { firstTries: 1 } });
  await servers.settled({ signal }).catch(() => undefined);
  if (signal.aborted) return EXIT.cancelled;
  const state = serverState(servers, name);
  if (state.status !== "ready" && state.status !== "needs_login") throw serverUnavailable(state);
  if (state.status === "ready") {
    const wanted = await requiresLogin(spec, signal);
    if (!wanted || !isSet(options, "force")) {
      await printStatus(io, json, wanted ? ALREADY_LOGGED_IN : NO_LOGIN_NEEDED, name);
      return EXIT.done;
    }
  }
  using patience = deadline(seconds * 1_000, signal);
  const came = await servers.login(name, { signal: patience.signal });
  if (signal.aborted) return EXIT.cancelled;
  const outcome = patience.isLate && came.status !== "done" ? loginTimedOut(seconds) : came;
  return await reportLogin(io, { json, name, servers, outcome });
}

interface Conclusion {
  readonly json: boolean;
  readonly name: string;
  readonly servers: McpServers;
  readonly outcome: LoginOutcome;
}

async function reportLogin(io: Io, { json, name, servers, outcome }: Conclusion): Promise<ExitCode> {
  switch (outcome.status) {
    case "done": {
      using enough = deadline(CHECK_MS);
      await waitWhileStatus(servers, name, ["connecting", "needs_login"], enough.signal);
      await printStatus(io, json, LOGGED_IN, name);
      const { status, reason, tools } = serverState(servers, name);
      if (status !== "ready") printNotice(io, `${name} is still not ready: ${reason ?? status}`);
      else if (!json) await print(io, `available: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}\n`);
      return EXIT.done;
    }
    case "declined":
    case "cancelled":
      if (json) await printJson(io, { server: name, status: outcome.status });
      printNotice(io, `the login to ${name} was ${outcome.status}; try again: rookery mcp auth ${name}`);
      return EXIT.failed;
    case "failed":
      if (json) await printJson(io, { server: name, status: "failed", reason: outcome.reason });
      printNotice(io, `the login to ${name} failed: ${outcome.reason}; try again: rookery mcp auth ${name}`);
      return EXIT.failed;
  }
}

const LOGGED_IN = { status: "done", words: (name: string) => `logged in to ${name}` };
const ALREADY_LOGGED_IN = {
  status: "already",
  words: (name: string) => `already logged in to ${name}; use --force to log in again`,
};
const NO_LOGIN_NEEDED = { status: "not_needed", words: (name: string) => `${name} needs no login` };

async function printStatus(io: Io, json: boolean, what: typeof LOGGED_IN, name: string): Promise<void> {
  if (json) await printJson(io, { server: name, status: what.status });
  else await print(io, `${what.words(name)}\n`);
}

function loginTimedOut(seconds: number): LoginOutcome {
  return { status: "failed", reason: `the login page was not completed within ${seconds} s` };
}

function serverUnavailable({ name, status, reason }: McpServerState): RookeryError {
  return new RookeryError("mcp_unavailable", `${name} cannot be reached: ${reason ?? status}`);
}

/** Sends a request without a token, because a connected server does not say whether it required one. */
async function requiresLogin({ url, type, headers }: RemoteServerSpec, signal: AbortSignal): Promise<boolean> {
  using enough = deadline(CHECK_MS, signal);
  try {
    const response = await fetch(url, {
      method: type === "sse" ? "GET" : "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...(type === "http" && { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) }),
      redirect: "manual",
      signal: enough.signal,
    });
    await response.body?.cancel();
    return response.status === 401;
  } catch {
    return false; // the server is reachable, so this proves nothing
  }
}
