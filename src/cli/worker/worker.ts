/** `rookery worker`: runs tasks of all hosts that share the store, until a signal or an operator ends it. */
import { Rookery } from "../../rookery.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode, formatError, usageError } from "../exit.ts";
import { print, printJson } from "../io.ts";
import { countOption, isSet, listOption, portOption, textOption } from "../options.ts";
import { logTaskEvents } from "../serve/task-log.ts";
import type { MetricsListener } from "../../telemetry/index.ts";
import { createServerLogger } from "../serve/server-logger.ts";
import { watchStopSignals } from "../serve/stop-signals.ts";

export async function workerCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const json = isSet(options, "json");
  const voice = createServerLogger(io, json);
  const wanted = parseWorkerOptions(options);
  using stops = watchStopSignals(io);
  const warn = (problem: string): void => voice("warning", problem);
  const telemetry = { metrics: true, onProblem: warn };
  await using rookery = await Rookery.open({ env: io.env, cwd: io.cwd(), telemetry });
  const metricsPort = portOption(options, "metricsPort");
  await using metrics =
    metricsPort === undefined ? undefined : await serveWorkerMetrics(rookery, metricsPort, stops.signal);
  const { head } = await rookery.store.readFeed({ after: 0, limit: 0 });
  const logging = new AbortController();
  let logged: Promise<void> | undefined;
  stops.signal.addEventListener("abort", () => {
    const first =
      wanted.drainTimeoutMs === undefined
        ? "running tasks continue on another worker, or at the next start"
        : `running tasks have ${wanted.drainTimeoutMs / 1000} s to finish`;
    voice("info", `stopping; ${first}; press Ctrl-C again to quit immediately`);
  });
  const end = await rookery.runWorker({
    ...wanted,
    version: io.version,
    signal: stops.signal,
    onStarted: ({ id, host }) => {
      const where = { id, host, pid: process.pid, home: rookery.home, version: io.version, metrics: metrics?.url };
      if (json) void printJson(io, where);
      else void print(io, `Worker ${id} runs tasks on host ${host} (version ${io.version}). Ctrl-C stops it.\n`);
      if (metrics !== undefined && !json) voice("info", `metrics at ${metrics.url}/metrics`);
      logged = logTaskEvents(rookery.store, {
        after: head,
        signal: logging.signal,
        log: (line) => voice("info", line),
      }).catch((error: unknown) => voice("warning", `tasks are no longer logged here: ${formatError(error)}`));
    },
    onProblem: (error) => voice("warning", formatError(error)),
  });
  logging.abort();
  await logged;
  if (end !== "signal") voice("info", `${end} by request of an operator`);
  return EXIT.done;
}

/** On loopback, because it needs no token. */
async function serveWorkerMetrics(rookery: Rookery, port: number, stopping: AbortSignal): Promise<MetricsListener> {
  const [{ serveMetrics }, { ServerReadiness }] = await Promise.all([
    import("../../telemetry/index.ts"),
    import("../../server/http/readiness.ts"),
  ]);
  const readiness = new ServerReadiness(rookery.store);
  return serveMetrics({
    port,
    collect: () => Promise.resolve(rookery.telemetry?.collect() ?? []),
    findProblem: () => (stopping.aborted ? Promise.resolve("the worker is stopping") : readiness.findProblem()),
  });
}

function parseWorkerOptions(options: CommandCall["options"]) {
  const labels = listOption(options, "label").flatMap(splitList);
  const wrong = labels.find((label) => !/^[\w.-]{1,64}$/.test(label));
  if (wrong !== undefined) {
    throw usageError(`--label must have at most 64 letters, digits, - _ and ., not "${wrong.slice(0, 80)}"`);
  }
  const agents = textOption(options, "agents");
  const drain = countOption(options, "drainTimeout", 0);
  return {
    labels,
    maxRunning: countOption(options, "maxRunning", 1),
    ...(agents !== undefined && { agents: splitList(agents) }),
    ...(drain !== undefined && drain > 0 && { drainTimeoutMs: drain * 1000 }),
  };
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
