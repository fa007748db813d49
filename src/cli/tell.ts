/** `rookery tell`: queues a message for a session or a task, whether or not a process drives it. */
import { RookeryError } from "../domain/errors.ts";
import { shortId } from "../domain/ids.ts";
import type { TaskView } from "../domain/task/view.ts";
import type { Rookery } from "../rookery.ts";
import { isDriven } from "../session/lease.ts";
import { loadState } from "../session/open.ts";
import { findRunningTask } from "../session/task-session.ts";
import { systemClock } from "../stdx/clock.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { print, printJson, printNotice } from "./io.ts";
import { openRookeryAnywhere } from "./open-anywhere.ts";
import { isSet } from "./options.ts";
import { resumeSessionCommand } from "./sessions/resume-command.ts";
import { findSessionOrTask } from "./sessions/find-session-or-task.ts";

export async function tellCommand({ io, args: [named = "", input = ""], options }: CommandCall): Promise<ExitCode> {
  await using rookery = await openRookeryAnywhere(io);
  const found = await findSessionOrTask(rookery, named, io);
  const id = "session" in found ? found.session.id : await currentSession(rookery, found.task);
  const deliver = isSet(options, "followUp") ? "follow_up" : "steer";
  const inputId = await rookery.tell(id, input, { deliver });
  if (isSet(options, "json")) await printJson(io, { session: id, input: inputId, deliver });
  else await print(io, `sent to ${shortId(id)}\n`);
  if (!(await isDriven(rookery.store, id, systemClock))) printNotice(io, await describeDelivery(rookery, id));
  return EXIT.done;
}

/** Returns the current session of a task, or its last one. Rejects with `task_state` if it has none. */
async function currentSession({ store }: Rookery, { id, sessions, endedAt }: TaskView): Promise<string> {
  const state = await store.task(id);
  const session = state?.current?.sessionId ?? sessions.at(-1)?.id;
  if (session !== undefined) return session;
  const fix = endedAt === undefined ? "try again when its agent has started" : `rookery task resume ${id} "…"`;
  throw new RookeryError("task_state", `task ${id} has no session to send the message to: ${fix}`);
}

async function describeDelivery({ store }: Rookery, id: string): Promise<string> {
  const task = await findRunningTask(store, id);
  const nobody = "no process drives the session now, so the message waits";
  if (task !== undefined) return `${nobody} until task ${task} continues: rookery task show ${task}`;
  return `${nobody}; continue it with: ${resumeSessionCommand(await loadState(store, id))}`;
}
