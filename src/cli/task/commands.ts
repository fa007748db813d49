/** The subcommands of `rookery task`. */
import { MERGE_METHODS } from "../../domain/enums.ts";
import { JSON_OPTION, PERMISSIONS_OPTION, SERVER_OPTION } from "../command-options.ts";
import type { CommandAction, ArgumentSpec, CommandCall, CommandSpec, OptionSpec } from "../command.ts";
import type { ExitCode } from "../exit.ts";
import { SHOWN_TASK_STATUSES } from "../sessions/shown-status.ts";
import type { TaskService } from "./service.ts";

const TASK: ArgumentSpec = {
  name: "task",
  summary: "the start of a task id, or `last` for the newest task of this repository",
};
/** For commands that only read. */
const TASK_OR_NEWEST: ArgumentSpec = { ...TASK, summary: `${TASK.summary}, which is the default`, optional: true };
const BUDGET_OPTION: OptionSpec = {
  flags: "--budget <amounts>",
  summary: "what it may use before it asks for more, or is stopped: 5usd,200000tokens,30m",
};
const DETACH_OPTION: OptionSpec = {
  flags: "--detach",
  summary: "only queue the task for the next server if none is running",
};

type TaskAction = (call: CommandCall, service: TaskService) => Promise<ExitCode>;

/** Loads a task command, and opens the task service only when the command runs. */
async function loadTaskAction(work: Promise<TaskAction>): Promise<CommandAction> {
  const [{ withTaskService }, action] = await Promise.all([import("./open-service.ts"), work]);
  return withTaskService(action);
}

export const taskCommands: readonly CommandSpec[] = [
  {
    name: "start",
    summary: "start a task in its own git worktree",
    arguments: [{ name: "prompt", summary: "what to do; `-` or nothing reads it from stdin", optional: true }],
    options: [
      { flags: "--id <id>", summary: "the id of the task (default: derived from the prompt)" },
      { flags: "--agent <name>", summary: "an agent from `rookery agents`" },
      { flags: "--model <model>", summary: "provider/model, or a model name of the agent's program" },
      { flags: "--base <ref>", summary: "the branch, tag or commit to start from (default: the current checkout)" },
      { flags: "--pipeline <name>", summary: "the pipeline in rookery.toml to run" },
      { flags: "--priority <number>", summary: "a higher priority runs first (default: 0)" },
      { flags: "--needs <id>", summary: "a task that must finish first", repeatable: true },
      { flags: "--label <label>", summary: "a label that the worker must have", repeatable: true },
      { flags: "--retries <count>", summary: "how often to retry after the agent fails" },
      BUDGET_OPTION,
      PERMISSIONS_OPTION,
      { flags: "--cwd <dir>", summary: "any directory of the repository" },
      DETACH_OPTION,
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes:
      "If a server is running (`rookery serve`), it gets the task and the command returns immediately. Otherwise the task\n" +
      "runs in this process. Ctrl-C stops it and keeps its worktree; `rookery task resume` continues it. Requests of the\n" +
      "agent appear on the terminal, or wait for `rookery answer`.",
    examples: [
      'rookery task start "Add pagination to the list of users"',
      'rookery task start "Review it" --needs add-pagination',
      "rookery task start - --budget 5usd,30m < task.md",
    ],
    load: () => loadTaskAction(import("./start.ts").then(({ startTaskCommand }) => startTaskCommand)),
  },
  {
    name: "list",
    summary: "list tasks; on a terminal, work with them",
    options: [
      {
        flags: "--status <status>",
        summary: "only tasks with this status",
        choices: SHOWN_TASK_STATUSES,
      },
      { flags: "--agent <name>", summary: "only tasks of this agent" },
      { flags: "--cwd <dir>", summary: "only tasks of the repository in this directory" },
      { flags: "--limit <count>", summary: "at most this many, running tasks first (default: 20; 200 on a terminal)" },
      { flags: "--all", summary: "list all tasks" },
      { flags: "--once", summary: "print the list once, also on a terminal" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes:
      "On a terminal, the tasks that need you come first and the list updates itself. Keys: Enter shows what the agent\n" +
      "does, a answers what it asks, d shows the changes, m merges, s stops, r resumes, n starts a task, / filters,\n" +
      "? lists the keys, q leaves.",
    examples: ["rookery task", "rookery task list --status waiting", "rookery task list --all --json"],
    load: () => loadTaskAction(import("./list.ts").then(({ listTasksCommand }) => listTasksCommand)),
  },
  {
    name: "show",
    summary: "show the details of a task, how to answer its requests, and the last message of its agent",
    arguments: [TASK_OR_NEWEST],
    options: [SERVER_OPTION, JSON_OPTION],
    examples: ["rookery task show", "rookery task show add-pagination"],
    load: () => loadTaskAction(import("./show.ts").then(({ showTaskCommand }) => showTaskCommand)),
  },
  {
    name: "logs",
    summary: "print what was said and done in a task",
    arguments: [TASK_OR_NEWEST],
    options: [
      { flags: "--follow", short: "-f", summary: "wait for new events until the task ends" },
      { flags: "--events", summary: "print the log instead, one line per event" },
      { flags: "--after <position>", summary: "only events after this one" },
      { flags: "--all", summary: "with --events or --json: include the raw events of the agents" },
      SERVER_OPTION,
      { flags: "--json", summary: "print the events as JSON, one per line" },
    ],
    examples: ["rookery task logs last -f", "rookery task logs add-pagination --after 120 --json"],
    load: () => loadTaskAction(import("./logs.ts").then(({ taskLogsCommand }) => taskLogsCommand)),
  },
  {
    name: "stop",
    summary: "stop a task; its worktree is kept",
    arguments: [TASK],
    options: [{ flags: "--reason <text>", summary: "a reason to record in the log" }, SERVER_OPTION, JSON_OPTION],
    examples: ["rookery task stop last"],
    load: () => loadTaskAction(import("./stop.ts").then(({ stopTaskCommand }) => stopTaskCommand)),
  },
  {
    name: "resume",
    summary: "continue a task that has ended, in its worktree and session",
    arguments: [
      TASK,
      {
        name: "prompt",
        summary: "what to tell the agent; `-` reads it from stdin; required if the task is done",
        optional: true,
      },
    ],
    options: [BUDGET_OPTION, DETACH_OPTION, SERVER_OPTION, JSON_OPTION],
    examples: ["rookery task resume last", 'rookery task resume last "Also update the docs"'],
    load: () => loadTaskAction(import("./resume.ts").then(({ resumeTaskCommand }) => resumeTaskCommand)),
  },
  {
    name: "diff",
    summary: "print the changes of a task, committed or not",
    arguments: [TASK_OR_NEWEST],
    options: [
      { flags: "--stat", summary: "only the number of changed lines per file" },
      { flags: "--name-only", summary: "only the file names" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    examples: ["rookery task diff last", "rookery task diff last --stat", "rookery task diff last | git apply"],
    load: () => loadTaskAction(import("./diff.ts").then(({ taskDiffCommand }) => taskDiffCommand)),
  },
  {
    name: "merge",
    summary: "merge the changes of a task into a branch",
    arguments: [TASK],
    options: [
      { flags: "--how <way>", summary: "the merge method", choices: MERGE_METHODS },
      { flags: "--into <branch>", summary: "the target branch (default: the branch the task started from)" },
      { flags: "--dry-run", summary: "change nothing; report conflicts" },
      {
        flags: "--gate <command>",
        summary: "a command that must succeed on the merged result (default: the configured one)",
      },
      { flags: "--no-gate", summary: "skip the configured gate" },
      { flags: "--message <text>", summary: "the commit message" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes:
      "The merge happens outside your checkout, which changes only after the merge succeeds. The exit code is 1 on\n" +
      "conflicts, which are listed, or if the gate fails.",
    examples: ["rookery task merge last --dry-run", 'rookery task merge last --how squash --message "Add pagination"'],
    load: () => loadTaskAction(import("./merge.ts").then(({ mergeTaskCommand }) => mergeTaskCommand)),
  },
  {
    name: "remove",
    summary: "delete a task with its worktree and branch",
    arguments: [TASK],
    options: [
      { flags: "--force", summary: "delete it even if changes are not merged or not committed; they are lost" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    examples: ["rookery task remove last"],
    load: () => loadTaskAction(import("./remove.ts").then(({ removeTaskCommand }) => removeTaskCommand)),
  },
  {
    name: "gc",
    summary: "remove worktrees that are clean, merged and unused",
    options: [
      { flags: "--dry-run", summary: "only list what would be removed" },
      {
        flags: "--quota <size>",
        summary: "remove only until their total size is below this, for example 20GB; 0 removes all",
      },
      { flags: "--cwd <dir>", summary: "only tasks of the repository in this directory" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes: "Never removes changes that are not merged or not committed; `rookery task remove --force` does.",
    examples: ["rookery task gc --dry-run", "rookery task gc --quota 20GB"],
    load: () => loadTaskAction(import("./gc.ts").then(({ collectTasksCommand }) => collectTasksCommand)),
  },
];
