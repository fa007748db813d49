/** Drives a session or runs tasks with short leases until it is killed. */
import { Rookery } from "../../src/rookery.ts";
import { say } from "./boundaries.ts";

export interface FrozenChildOptions {
  readonly ttlMs: number;
  /** Whether to run the tasks of the home. If false, drives a session with one prompt. */
  readonly tasks: boolean;
}

const { ttlMs, tasks } = JSON.parse(process.argv[2] ?? "{}") as FrozenChildOptions;
const rookery = await Rookery.open({ leaseTiming: { ttlMs, renewMs: ttlMs / 3 } });
if (tasks) {
  const running = rookery.runTasks({ signal: new AbortController().signal });
  say({ session: "tasks" });
  await running;
} else {
  const session = await rookery.openSession({ permissions: "all" });
  say({ session: session.id });
  const outcome = await session.prompt("go").outcome.catch((error: unknown) => error);
  say({ session: (outcome as { code?: string }).code ?? "done" });
  await rookery.close();
}
