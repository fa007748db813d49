/** `rookery serve`: runs tasks and serves the HTTP API until a signal stops it. */
import { join } from "node:path";
import { Rookery } from "../../rookery.ts";
import { describeDatabase, describeDatabaseRisks } from "../doctor/database.ts";
import type { CommandCall, OptionValues } from "../command.ts";
import { EXIT, type ExitCode, usageError, formatError } from "../exit.ts";
import { type Io, print, printJson } from "../io.ts";
import { isSet, listOption, portOption, textOption } from "../options.ts";
import { untilAborted } from "../run/interrupts.ts";
import { formatStartMessage } from "./start-message.ts";
import { logTaskEvents } from "./task-log.ts";
import { watchStopSignals } from "./stop-signals.ts";
import { createServerLogger } from "./server-logger.ts";
import { runServedTasks } from "./served-tasks.ts";

export async function serveCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const json = isSet(options, "json");
  const voice = createServerLogger(io, json);
  const wanted = parseServeOptions(io, options);
  const { serveHttp } = await import("../../server/http/index.ts");
  using stops = watchStopSignals(io);
  const onProblem = (problem: string): void => voice("warning", problem);
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd(), telemetry: { metrics: true, onProblem } });
  await using service = await serveHttp(rookery, {
    ...wanted,
    version: io.version,
    env: io.env,
    cwd: io.cwd(),
    log: json ? (line) => void io.stderr.write(`${line}\n`) : undefined,
  });
  const { head } = await rookery.store.readFeed({ after: 0, limit: 0 });
  const ended = new AbortController(); // an operator may stop the server without a signal
  const logging = logTaskEvents(rookery.store, {
    after: head,
    signal: AbortSignal.any([stops.signal, ended.signal]),
    log: (line) => voice("info", line),
  }).catch((error: unknown) => voice("warning", `tasks are no longer logged here: ${formatError(error)}`));
  const runsTasks = !isSet(options, "noTasks");
  const pool = runServedTasks(rookery, {
    version: io.version,
    runsTasks,
    signal: stops.signal,
    onProblem: (error) => voice("warning", formatError(error)),
    onEnded: () => voice("info", "an operator drained this server; it takes no more tasks"),
  });
  const tokenFile = wanted.token === undefined ? join(rookery.home, "token") : undefined;
  const { url, exposed } = service;
  if (json) await printJson(io, { url, pid: process.pid, home: rookery.home, tokenFile, version: io.version });
  else {
    const shown = isSet(options, "showToken") ? service.token : undefined;
    const { url: page } = service.makeSignInLink();
    const log = (await describeDatabase(io)) ?? rookery.home;
    await print(io, formatStartMessage(io, { url, page, log, tokenFile, runsTasks, token: shown }));
  }
  if (exposed && !json) {
    const risk = "is reachable from other machines without encryption, and anyone with the token can run commands here";
    voice("warning", `${url} ${risk}: put it behind TLS, or use --host 127.0.0.1`);
  }
  for (const risk of await describeDatabaseRisks(io)) voice("warning", risk);
  await Promise.race([pool, untilAborted(stops.signal)]);
  ended.abort();
  if (io.stderr.isTTY === true && !json) io.stderr.write("\n"); // the terminal has echoed ^C
  const tasks = runsTasks ? "running tasks continue at the next start; " : "";
  voice("info", `stopping; ${tasks}press Ctrl-C again to quit immediately`);
  await Promise.all([service.close(), pool, logging]);
  return EXIT.done;
}

interface ServeOptions {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly token: string | undefined;
  readonly allowHosts: readonly string[];
  readonly publicUrl: string | undefined;
}

function parseServeOptions({ env, stdout }: Io, options: OptionValues): ServeOptions {
  const port = portOption(options, "port");
  if (isSet(options, "showToken") && stdout.isTTY !== true) {
    throw usageError("--show-token needs a terminal; read the token from the file that the server prints at the start");
  }
  return {
    host: textOption(options, "host"),
    port,
    token: textOption(options, "token") ?? (env["ROOKERY_TOKEN"] || undefined),
    allowHosts: listOption(options, "allowHost"),
    publicUrl: textOption(options, "publicUrl"),
  };
}
