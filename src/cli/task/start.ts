/** `rookery task start`: starts a task in its own git worktree. */
import { resolve } from "node:path";
import { PERMISSION_POLICIES } from "../../domain/enums.ts";
import { TaskId, TaskLabel } from "../../domain/task/spec.ts";
import type { StartTask } from "../../domain/task/view.ts";
import type { CommandCall } from "../command.ts";
import { type ExitCode, usageError } from "../exit.ts";
import { choiceOption, countOption, isSet, listOption, textOption } from "../options.ts";
import { toSingleLine } from "../sanitize.ts";
import { requirePrompt } from "../run/prompt.ts";
import { withTrustPrompt } from "../run/trust-prompt.ts";
import { parseBudget } from "./amounts.ts";
import type { TaskService } from "./service.ts";
import { findTask, LAST_TASK_ALIAS } from "./find.ts";
import { submitTask } from "./submit.ts";

export async function startTaskCommand(call: CommandCall, service: TaskService): Promise<ExitCode> {
  const { io } = call;
  const request = await parseStartOptions(call, service);
  const { signal } = new AbortController();
  const cwd = request.cwd ?? io.cwd();
  const runsNow = service.server !== undefined || !isSet(call.options, "detach");
  const start = async () => service.tasks.start(runsNow ? await service.chooseAgent(request) : request);
  return submitTask(call, service, () => withTrustPrompt({ io, cwd, signal }, start));
}

async function parseStartOptions(
  { io, args: [typed], options }: CommandCall,
  { tasks }: TaskService,
): Promise<StartTask> {
  const id = textOption(options, "id");
  const budget = textOption(options, "budget");
  const labels = listOption(options, "label").map(checkTaskLabel);
  const given = {
    ...(id !== undefined && { id: checkTaskId(id) }),
    agent: textOption(options, "agent"),
    model: textOption(options, "model"),
    base: textOption(options, "base"),
    pipeline: textOption(options, "pipeline"),
    permissions: choiceOption(options, "permissions", PERMISSION_POLICIES),
    priority: parsePriority(options),
    retries: countOption(options, "retries", 0),
    ...(labels.length > 0 && { labels }),
    ...(budget !== undefined && { budget: parseBudget(budget) }),
    cwd: resolve(io.cwd(), textOption(options, "cwd") ?? "."),
  };
  const prompt = await requirePrompt(io, typed, "rookery task start");
  const needs: string[] = [];
  for (const named of listOption(options, "needs").flatMap((text) => text.split(","))) {
    needs.push((await findTask(tasks, named.trim(), io)).id);
  }
  return { ...given, needs, prompt };
}

function checkTaskId(id: string): string {
  if (id === LAST_TASK_ALIAS) throw usageError(`"${LAST_TASK_ALIAS}" cannot be an id: it means the newest task`);
  const checked = TaskId.safeParse(id);
  if (checked.success) return id;
  throw usageError(
    `"${toSingleLine(id, 60)}" is not a task id: use at most 64 lowercase letters, digits, and - _ . between them`,
  );
}

function checkTaskLabel(label: string): string {
  if (TaskLabel.safeParse(label).success) return label;
  throw usageError(`--label must have at most 64 letters, digits, - _ and ., not "${toSingleLine(label, 60)}"`);
}

function parsePriority(options: CommandCall["options"]): number | undefined {
  const value = textOption(options, "priority");
  if (value === undefined) return undefined;
  const number = /^[+-]?\d{1,4}$/.test(value) ? Number(value) : NaN;
  if (!(Math.abs(number) <= 1000))
    throw usageError(`--priority must be a whole number from -1000 to 1000, not "${value}"`);
  return number;
}
