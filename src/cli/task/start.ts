/** `rookery task start`: gives an agent a task in a worktree of its own. */
import { resolve } from "node:path";
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import { TaskId } from "../../domain/task/spec.ts";
import type { StartTask } from "../../domain/task/view.ts";
import type { Call } from "../command.ts";
import { type ExitCode, usage } from "../exit.ts";
import { choiceOption, countOption, listOption, textOption } from "../options.ts";
import { oneLine } from "../printable.ts";
import { requirePrompt } from "../run/prompt.ts";
import { trusting } from "../run/trusting.ts";
import { budgetOf } from "./amounts.ts";
import type { TaskDoor } from "./door.ts";
import { findTask, LAST } from "./find.ts";
import { giveTask } from "./give.ts";

export async function startTask(call: Call, door: TaskDoor): Promise<ExitCode> {
  const { io } = call;
  const request = await requestIn(call, door);
  const { signal } = new AbortController();
  const cwd = request.cwd ?? io.cwd();
  return giveTask(call, door, () => trusting({ io, cwd, signal }, () => door.tasks.start(request)));
}

async function requestIn({ io, args: [typed], options }: Call, { tasks }: TaskDoor): Promise<StartTask> {
  const id = textOption(options, "id");
  const budget = textOption(options, "budget");
  const given = {
    ...(id !== undefined && { id: checkedId(id) }),
    agent: textOption(options, "agent"),
    model: textOption(options, "model"),
    base: textOption(options, "base"),
    pipeline: textOption(options, "pipeline"),
    permissions: choiceOption(options, "permissions", PERMISSION_POLICIES),
    priority: priorityIn(options),
    retries: countOption(options, "retries", 0),
    ...(budget !== undefined && { budget: budgetOf(budget) }),
    cwd: resolve(io.cwd(), textOption(options, "cwd") ?? "."),
  };
  const prompt = await requirePrompt(io, typed, "rookery task start");
  const needs: string[] = [];
  for (const named of listOption(options, "needs").flatMap((text) => text.split(","))) {
    needs.push((await findTask(tasks, named.trim())).id);
  }
  return { ...given, needs, prompt };
}

function checkedId(id: string): string {
  if (id === LAST) throw usage(`"${LAST}" is no id: it stands for the newest task`);
  const checked = TaskId.safeParse(id);
  if (checked.success) return id;
  throw usage(`"${oneLine(id, 60)}" is no id of a task: at most 64 small letters, digits, and - _ . between them`);
}

function priorityIn(options: Call["options"]): number | undefined {
  const value = textOption(options, "priority");
  if (value === undefined) return undefined;
  const number = /^[+-]?\d{1,4}$/.test(value) ? Number(value) : NaN;
  if (!(Math.abs(number) <= 1000)) throw usage(`--priority takes a whole number from -1000 to 1000, not "${value}"`);
  return number;
}
