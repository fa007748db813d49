/** `rookery workers`: lists the workers of all hosts, and drains and stops them. */
import type { WorkerRequest } from "../../domain/worker.ts";
import type { WorkerView } from "../../domain/worker-view.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { formatAge, formatColumns } from "../format.ts";
import { print, printJson, printText, terminalWidth } from "../io.ts";
import { openRookeryAnywhere } from "../open-anywhere.ts";
import { isSet } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";

export async function listWorkersCommand({ io, options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openRookeryAnywhere(io);
  const workers = await rookery.workers();
  if (isSet(options, "json")) {
    for (const worker of workers) await printJson(io, worker);
    return EXIT.done;
  }
  if (workers.length === 0) {
    await printText(io, "no workers; start one: rookery worker (rookery serve runs tasks too)\n");
    return EXIT.done;
  }
  await print(io, formatWorkerTable(workers, Date.now(), terminalWidth(io.stdout)));
  return EXIT.done;
}

/** The command that asks workers to drain or to stop. */
export function askWorkersCommand(request: WorkerRequest) {
  return async ({ io, args: [target = ""], options }: CommandCall): Promise<ExitCode> => {
    await using rookery = await openRookeryAnywhere(io);
    const workers = await rookery.askWorkers(target, request);
    if (isSet(options, "json")) {
      for (const worker of workers) await printJson(io, worker);
      return EXIT.done;
    }
    for (const worker of workers) await printText(io, `${formatAskedWorker(worker, request)}\n`);
    return EXIT.done;
  };
}

/** What a worker or server does now that an operator has asked it. A drained server does not end. */
export function formatAskedWorker(
  { id, host, kind, running }: Pick<WorkerView, "id" | "host" | "kind" | "running">,
  request: WorkerRequest,
): string {
  const name = `${kind === "serve" ? "server" : "worker"} ${id} on host ${toSingleLine(host)}`;
  const count = `${running.length} running ${running.length === 1 ? "task" : "tasks"}`;
  if (request === "stop") return `${name} hands over ${count} and ends`;
  const after = kind === "serve" ? "takes no more, and keeps answering requests" : "takes no more, and ends";
  return `${name} finishes ${count}, ${after}`;
}

/** One line for each worker: what it runs, how many tasks it has and can have, when it was last seen, its agents. */
export function formatWorkerTable(workers: readonly WorkerView[], now: number, width: number | undefined): string {
  const rows = workers.map((worker) => [
    worker.id,
    worker.host,
    worker.status,
    worker.maxRunning === 0 ? "no tasks" : `${worker.running.length}/${worker.maxRunning}`,
    worker.version,
    formatAge(worker.heartbeatAt, now),
    describeWorker(worker),
  ]);
  const heading = ["worker", "host", "state", "tasks", "version", "seen", "agents, labels and tasks"];
  return formatColumns(
    [heading, ...rows].map((row) => row.map((cell) => toSingleLine(cell))),
    width,
  );
}

function describeWorker({ kind, agents, labels, running, sessions }: WorkerView): string {
  const parts = [
    ...(kind === "serve" ? ["serves HTTP"] : []),
    agents.length === 0 ? "no agent is ready" : `agents ${agents.join(", ")}`,
    ...(labels.length === 0 ? [] : [`labels ${labels.join(", ")}`]),
    ...(running.length === 0 ? [] : [`runs ${running.map(({ id }) => id).join(", ")}`]),
    ...(sessions === 0 ? [] : [`drives ${sessions} ${sessions === 1 ? "session" : "sessions"}`]),
  ];
  return parts.join("; ");
}
