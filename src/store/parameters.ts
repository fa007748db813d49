/** Checks what callers hand to a store, for every store alike: TypeScript does not check plain JavaScript. */
import {
  SESSION_STATUSES,
  WORKER_REQUESTS,
  bytesArgument,
  checkArgument,
  functionArgument,
  integerArgument,
  limitArgument,
  listArgument,
  numberArgument,
  objectArgument,
  oneOfArgument,
  optionalArgument,
  signalArgument,
  textArgument,
  flagArgument,
  type ArgumentCheck,
  type Store,
} from "../domain/index.ts";
import { ZERO_TASK_COUNTS } from "./task-facts.ts";

type Method = Exclude<keyof Store, symbol>;

const text = optionalArgument(textArgument);
const integer = optionalArgument(integerArgument);
const limit = optionalArgument(limitArgument);

const lease = objectArgument({
  sessionId: textArgument,
  owner: textArgument,
  generation: integerArgument,
  until: numberArgument,
});

/** Events are checked against their schemas when they are appended. */
const append = { id: textArgument, expectedHead: integerArgument, fence: integer };
const drafts = listArgument(objectArgument({ type: textArgument }));
const effectKey = objectArgument({ turnId: textArgument, step: integerArgument, kind: textArgument, id: textArgument });
const journalWrite: ArgumentCheck = (value) =>
  objectArgument({ op: oneOfArgument("start", "finish", "forget") })(value) ??
  objectArgument((value as { op: string }).op === "forget" ? { turnId: textArgument } : { key: effectKey })(value);

const signal = optionalArgument(signalArgument);
const following = objectArgument({ sessionId: textArgument, after: integerArgument, signal });

/** Per method, its arguments in order. */
const ARGUMENTS: Readonly<Record<Method, readonly (readonly [what: string, check: ArgumentCheck])[]>> = {
  check: [],
  countSessions: [],
  append: [
    [
      "the append",
      objectArgument({
        ...append,
        sessionId: textArgument,
        events: drafts,
        journal: optionalArgument(listArgument(journalWrite)),
      }),
    ],
  ],
  appendAtHead: [
    ["the append", objectArgument({ sessionId: textArgument, id: textArgument, decide: functionArgument })],
  ],
  appendTaskAtHead: [
    ["the append", objectArgument({ taskId: textArgument, id: textArgument, decide: functionArgument })],
  ],
  read: [
    [
      "the query",
      objectArgument({
        sessionId: textArgument,
        after: integer,
        before: limit,
        order: optionalArgument(oneOfArgument("oldest_first", "newest_first")),
        limit,
        maxBytes: limit,
      }),
    ],
  ],
  follow: [["the query", following]],
  followText: [["the query", following]],
  watchHead: [["the query", following]],
  watchTaskHead: [["the query", objectArgument({ taskId: textArgument, after: integerArgument, signal })]],
  watchTasks: [["the query", optionalArgument(objectArgument({ signal }))]],
  summary: [["the session's id", textArgument]],
  list: [
    [
      "the query",
      optionalArgument(
        objectArgument({
          agent: text,
          cwd: text,
          within: optionalArgument(listArgument(textArgument)),
          startedBy: optionalArgument(oneOfArgument("person")),
          idPrefix: text,
          parent: text,
          task: text,
          status: optionalArgument(oneOfArgument(...SESSION_STATUSES)),
          before: text,
          limit,
        }),
      ),
    ],
  ],
  acquireLease: [
    [
      "the request for a lease",
      objectArgument({
        sessionId: textArgument,
        owner: textArgument,
        now: numberArgument,
        until: numberArgument,
        supersede: integer,
      }),
    ],
  ],
  renewLeases: [
    ["the leases", listArgument(lease)],
    ["the end of the leases", numberArgument],
  ],
  releaseLease: [["the lease", lease]],
  currentLease: [["the session's id", textArgument]],
  delete: [["the lease", lease]],
  keptRequest: [["the key", textArgument]],
  keepResponse: [
    ["the request", objectArgument({ key: textArgument, digest: textArgument, at: numberArgument })],
    ["the response", textArgument],
  ],
  journal: [
    ["the session's id", textArgument],
    ["the turn's id", textArgument],
  ],
  putBlob: [["the blob", bytesArgument]],
  getBlob: [["the hash", textArgument]],
  appendTask: [["the append", objectArgument({ ...append, taskId: textArgument, events: drafts })]],
  readTask: [["the query", objectArgument({ taskId: textArgument, after: integer, limit, maxBytes: limit })]],
  task: [["the task's id", textArgument]],
  tasks: [
    [
      "the query",
      optionalArgument(
        objectArgument({
          phases: optionalArgument(listArgument(oneOfArgument(...Object.keys(ZERO_TASK_COUNTS)))),
          repository: text,
          agent: text,
          idPrefix: text,
          merging: optionalArgument(flagArgument),
          removed: optionalArgument(flagArgument),
          order: optionalArgument(oneOfArgument("oldest_first", "newest_first")),
          before: text,
          limit,
        }),
      ),
    ],
  ],
  countTasks: [],
  heldTasks: [],
  claimTask: [
    [
      "the claim",
      objectArgument({
        owner: textArgument,
        now: numberArgument,
        until: numberArgument,
        only: text,
        host: text,
        skip: optionalArgument(listArgument(textArgument)),
        accepts: optionalArgument(functionArgument),
        choose: functionArgument,
      }),
    ],
  ],
  saveWorker: [["the worker", objectArgument({ id: textArgument, heartbeat: numberArgument, until: numberArgument })]],
  workers: [],
  askWorker: [
    ["the worker's id", textArgument],
    ["the request", oneOfArgument(...WORKER_REQUESTS)],
  ],
  removeWorker: [["the worker's id", textArgument]],
  forgetWorkers: [["the time", numberArgument]],
  agreeOnSetting: [
    [
      "the setting",
      objectArgument({ name: textArgument, value: textArgument, replace: optionalArgument(flagArgument) }),
    ],
  ],
  followFeed: [["the query", objectArgument({ after: integerArgument, task: text, signal })]],
  readFeed: [["the query", objectArgument({ after: integerArgument, task: text, limit, maxBytes: limit })]],
};

/** These return what is followed; all others return a promise. */
const FOLLOWING: readonly Method[] = ["follow", "followText", "followFeed", "watchHead", "watchTaskHead", "watchTasks"];

/** The same store with its arguments checked. Each method throws or rejects with `input_invalid`. */
export function withCheckedArguments(store: Store): Store {
  const checked: Record<string | symbol, unknown> = { [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  for (const [name, checks] of Object.entries(ARGUMENTS) as [Method, (typeof ARGUMENTS)[Method]][]) {
    const method = (store[name] as (...args: unknown[]) => unknown).bind(store);
    const check = (args: readonly unknown[]): void => {
      for (const [index, [what, one]] of checks.entries()) checkArgument(args[index], one, what);
    };
    checked[name] = FOLLOWING.includes(name)
      ? (...args: unknown[]) => {
          check(args);
          return method(...args);
        }
      : async (...args: unknown[]) => {
          check(args);
          return method(...args);
        };
  }
  return checked as unknown as Store;
}
