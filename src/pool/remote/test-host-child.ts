/** Test program that runs the tasks of one host until it is killed. */
import { Rookery } from "../../rookery.ts";
import { openSqliteStore } from "../../store/index.ts";
import { takeEveryTask } from "./test-placement.ts";

export interface HostChildOptions {
  readonly host: string;
  readonly cwd: string;
  /** The database that all hosts share. */
  readonly database: string;
  readonly leaseTiming: { readonly ttlMs: number; readonly renewMs: number };
}

const { host, cwd, database, leaseTiming } = JSON.parse(process.argv[2] ?? "") as HostChildOptions;
const store = await openSqliteStore({ path: database });
const rookery = await Rookery.open({ env: process.env, cwd, store, host, leaseTiming });
await rookery.runTasks({ placement: () => takeEveryTask(host) });
