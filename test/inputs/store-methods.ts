/** Every method of a store, with a valid value and wrong values for each argument. */
import type { RookeryClient } from "../../src/client/index.ts";
import type { LoopbackHttp, Rookery, Session } from "../../src/index.ts";
import {
  NO_OBJECT,
  THROWING,
  aFunction,
  flag,
  integer,
  list,
  number,
  object,
  signal,
  text,
  word,
  type Argument,
} from "./wrong-values.ts";

export interface Scene {
  readonly session: Session;
  readonly rookery: Rookery;
  readonly loopback: LoopbackHttp;
  readonly client: RookeryClient;
}

export type Call = (scene: Scene, ...args: never[]) => unknown;
export type Method = readonly [call: Call, ...args: readonly Argument[]];
export type Methods = Readonly<Record<string, Method>>;

export const SESSIONS_QUERY = object({
  agent: text(),
  cwd: text(),
  parent: text(),
  task: text(),
  status: word("idle"),
  before: text(),
  limit: integer,
});

const lease = object({ sessionId: text(), owner: text(), generation: integer, until: number });
const following = object({ sessionId: text(), after: integer, signal });
const effectKey = object({ turnId: text(), step: integer, kind: text(), id: text() });
const append = {
  id: text(),
  expectedHead: integer,
  fence: integer,
  events: list({ valid: { type: "notice" }, wrong: [null, 5, "text", {}, { type: 5 }, THROWING] }),
};
export const STORE: Methods = {
  append: [
    ({ rookery }, given) => rookery.store.append(given),
    object({
      ...append,
      sessionId: text(),
      journal: list({
        valid: { op: "forget", turnId: "t" },
        wrong: [
          null,
          {},
          { op: "stop" },
          { op: "forget", turnId: 5 },
          { op: "start" },
          ...effectKey.wrong.map((key) => ({ op: "start", key })),
        ],
      }),
    }),
  ],
  appendAtHead: [
    ({ rookery }, given) => rookery.store.appendAtHead(given),
    object({ sessionId: text(), id: text(), decide: aFunction }),
  ],
  appendTaskAtHead: [
    ({ rookery }, given) => rookery.store.appendTaskAtHead(given),
    object({ taskId: text(), id: text(), decide: aFunction }),
  ],
  read: [
    ({ rookery }, query) => rookery.store.read(query),
    object({
      sessionId: text(),
      after: integer,
      before: integer,
      order: word("oldest_first"),
      limit: integer,
      maxBytes: integer,
    }),
  ],
  follow: [({ rookery }, query) => rookery.store.follow(query), following],
  followText: [({ rookery }, query) => rookery.store.followText(query), following],
  watchHead: [({ rookery }, query) => rookery.store.watchHead(query), following],
  watchTaskHead: [
    ({ rookery }, query) => rookery.store.watchTaskHead(query),
    object({ taskId: text(), after: integer, signal }),
  ],
  watchTasks: [({ rookery }, query) => rookery.store.watchTasks(query), object({ signal })],
  summary: [({ rookery }, id) => rookery.store.summary(id), text()],
  list: [({ rookery }, query) => rookery.store.list(query), SESSIONS_QUERY],
  acquireLease: [
    ({ rookery }, request) => rookery.store.acquireLease(request),
    object({ sessionId: text(), owner: text(), now: number, until: number, supersede: integer }),
  ],
  renewLeases: [({ rookery }, ...args) => rookery.store.renewLeases(...(args as [never, never])), list(lease), number],
  releaseLease: [({ rookery }, given) => rookery.store.releaseLease(given), lease],
  currentLease: [({ rookery }, id) => rookery.store.currentLease(id), text()],
  delete: [({ rookery }, given) => rookery.store.delete(given), lease],
  keptRequest: [({ rookery }, key) => rookery.store.keptRequest(key), text()],
  keepResponse: [
    ({ rookery }, ...args) => rookery.store.keepResponse(...(args as [never, never])),
    object({ key: text(), digest: text(), at: number }),
    text(),
  ],
  journal: [({ rookery }, ...args) => rookery.store.journal(...(args as [never, never])), text(), text()],
  putBlob: [
    ({ rookery }, bytes) => rookery.store.putBlob(bytes),
    { valid: new Uint8Array(), wrong: [...NO_OBJECT, {}, "a"] },
  ],
  getBlob: [({ rookery }, hash) => rookery.store.getBlob(hash), text()],
  appendTask: [({ rookery }, given) => rookery.store.appendTask(given), object({ ...append, taskId: text() })],
  readTask: [
    ({ rookery }, query) => rookery.store.readTask(query),
    object({ taskId: text(), after: integer, limit: integer }),
  ],
  task: [({ rookery }, id) => rookery.store.task(id), text()],
  tasks: [
    ({ rookery }, query) => rookery.store.tasks(query),
    object({
      phases: list(word("queued")),
      repository: text(),
      agent: text(),
      merging: flag,
      removed: flag,
      before: text(),
      limit: integer,
    }),
  ],
  claimTask: [
    ({ rookery }, claim) => rookery.store.claimTask(claim),
    object({
      owner: text(),
      now: number,
      until: number,
      only: text(),
      host: text(),
      skip: list(text()),
      accepts: aFunction,
      choose: aFunction,
    }),
  ],
  saveWorker: [
    ({ rookery }, worker) => rookery.store.saveWorker(worker),
    object({ id: text(), heartbeat: number, until: number }),
  ],
  askWorker: [({ rookery }, ...args) => rookery.store.askWorker(...(args as [never, never])), text(), word("drain")],
  removeWorker: [({ rookery }, id) => rookery.store.removeWorker(id), text()],
  forgetWorkers: [({ rookery }, before) => rookery.store.forgetWorkers(before), number],
  agreeOnSetting: [
    ({ rookery }, setting) => rookery.store.agreeOnSetting(setting),
    object({ name: text(), value: text(), replace: flag }),
  ],
  followFeed: [
    ({ rookery }, query) => rookery.store.followFeed(query),
    object({ after: integer, task: text(), signal }),
  ],
  readFeed: [
    ({ rookery }, query) => rookery.store.readFeed(query),
    object({ after: integer, task: text(), limit: integer, maxBytes: integer }),
  ],
};
