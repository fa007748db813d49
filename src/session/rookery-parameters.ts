/** Validates the arguments of `Rookery.open` and of the methods of `Rookery`. Each function throws `input_invalid`. */
import {
  WORKER_KINDS,
  WORKER_REQUESTS,
  checkArgument,
  flagArgument,
  functionArgument,
  integerArgument,
  listArgument,
  numberArgument,
  objectArgument,
  oneOfArgument,
  optionalArgument,
  signalArgument,
  textArgument,
  type ArgumentCheck,
} from "../domain/index.ts";

const text = optionalArgument(textArgument);
const signal = optionalArgument(signalArgument);
const anyObject = objectArgument({});
const positive: ArgumentCheck = (value) =>
  numberArgument(value) ?? ((value as number) > 0 ? undefined : "expected a number above 0");

const ROOKERY_OPTIONS = objectArgument({
  env: optionalArgument(variablesArgument),
  home: text,
  cwd: text,
  host: text,
  store: optionalArgument(objectArgument({ append: functionArgument, read: functionArgument })),
  clock: optionalArgument(objectArgument({ now: functionArgument, awake: optionalArgument(functionArgument) })),
  leaseTiming: optionalArgument(objectArgument({ ttlMs: positive, renewMs: positive })),
  plugins: optionalArgument(listArgument(functionArgument)),
  backends: optionalArgument(listArgument(anyObject)),
  providers: optionalArgument(listArgument(anyObject)),
  telemetry: (value) =>
    value === false
      ? undefined
      : optionalArgument(
          objectArgument({ metrics: optionalArgument(flagArgument), onProblem: optionalArgument(functionArgument) }),
        )(value),
});

export function checkRookeryOptions(options: unknown): void {
  checkArgument(options, ROOKERY_OPTIONS, "the options of Rookery.open");
}

const SEARCH_OPTIONS = objectArgument({
  cursor: optionalArgument(objectArgument({ sessionId: textArgument, before: integerArgument })),
  limit: optionalArgument(integerArgument),
  maxMs: optionalArgument(numberArgument),
  signal,
});

export function checkSearchOptions(options: unknown): void {
  checkArgument(options, SEARCH_OPTIONS, "the options of search");
}

const CANCEL_OPTIONS = objectArgument({ turnId: text });

export function checkCancelOptions(options: unknown): void {
  checkArgument(options, CANCEL_OPTIONS, "the options of the cancellation");
}

const TELL_OPTIONS = objectArgument({ deliver: optionalArgument(oneOfArgument("steer", "follow_up")) });

export function checkTellOptions(options: unknown): void {
  checkArgument(options, TELL_OPTIONS, "the options of the input");
}

const FOLLOW_QUERY = objectArgument({ session: text, task: text, after: optionalArgument(integerArgument), signal });

export function checkFollowQuery(query: unknown): void {
  checkArgument(query, FOLLOW_QUERY, "the query");
}

const RUN_TASKS_OPTIONS = objectArgument({
  only: text,
  signal,
  drain: signal,
  maxRunning: optionalArgument(integerArgument),
  onProblem: optionalArgument(functionArgument),
});

const RUN_WORKER_OPTIONS = objectArgument({
  kind: optionalArgument(oneOfArgument(...WORKER_KINDS)),
  version: textArgument,
  maxRunning: optionalArgument(integerArgument),
  labels: optionalArgument(listArgument(textArgument)),
  agents: optionalArgument(listArgument(textArgument)),
  signal: signalArgument,
  drainTimeoutMs: optionalArgument(numberArgument),
  onStarted: optionalArgument(functionArgument),
  onProblem: optionalArgument(functionArgument),
});

export function checkWorkerRequest(target: unknown, request: unknown): void {
  checkArgument(target, textArgument, "the worker or host");
  checkArgument(request, oneOfArgument(...WORKER_REQUESTS), "the request");
}

export function checkRunWorkerOptions(options: unknown): void {
  checkArgument(options, RUN_WORKER_OPTIONS, "the options of runWorker");
}

export function checkRunTasksOptions(options: unknown): void {
  checkArgument(options, RUN_TASKS_OPTIONS, "the options of runTasks");
}

const SERVERS_QUERY = objectArgument({
  cwd: text,
  agent: text,
  untrusted: optionalArgument(oneOfArgument("refuse", "leave_out")),
});

export function checkServersQuery(query: unknown): void {
  checkArgument(query, SERVERS_QUERY, "the query");
}

const CONNECT_OPTIONS = objectArgument({
  cwd: text,
  betweenTurns: optionalArgument(
    objectArgument({ record: functionArgument, ask: functionArgument, permit: functionArgument }),
  ),
  bounds: optionalArgument(anyObject),
});

export function checkConnectOptions(options: unknown): void {
  checkArgument(options, CONNECT_OPTIONS, "the options of connectServers");
}

function variablesArgument(value: unknown): string | undefined {
  const values = anyObject(value) === undefined ? Object.entries(value as object) : undefined;
  if (values === undefined) return "expected an object";
  const wrong = values.find(([, one]) => one !== undefined && typeof one !== "string");
  return wrong === undefined ? undefined : `${wrong[0]}: expected a string`;
}
