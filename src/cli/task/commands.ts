/** The rows of `rookery task`. */
import { MERGE_METHODS, TASK_STATUSES } from "../../domain/enums.ts";
import { JSON_OPTION, PERMISSIONS_OPTION } from "../command-options.ts";
import type { CommandAction, ArgumentSpec, CommandCall, CommandSpec, OptionSpec } from "../command.ts";
import type { ExitCode } from "../exit.ts";
import type { TaskService } from "./service.ts";

const TASK: ArgumentSpec = { name: "task", summary: "a task's id, its beginning, or `last`" };
const SERVER_OPTION: OptionSpec = {
  flags: "--server <url>",
  summary: "another server than the one that runs here; its token is in ROOKERY_TOKEN",
};
const BUDGET_OPTION: OptionSpec = {
  flags: "--budget <amounts>",
  summary: "what it may use before you are asked for more, or a program is stopped: 5usd,200000tokens,30m",
};
const DETACH_OPTION: OptionSpec = {
  flags: "--detach",
  summary: "do not run it here where no server runs: it is queued for the next one",
};

type TaskAction = (call: CommandCall, service: TaskService) => Promise<ExitCode>;

/** With what tasks are behind, which is opened only then. */
async function loadTaskAction(work: Promise<TaskAction>): Promise<CommandAction> {
  const [{ withTaskService }, action] = await Promise.all([import("./open-service.ts"), work]);
  return withTaskService(action);
}

export const taskCommands: readonly CommandSpec[] = [
  {
    name: "start",
    summary: "give an agent a task in a worktree of its own",
    arguments: [{ name: "prompt", summary: "what to do; `-` or nothing reads it from a pipe", optional: true }],
    options: [
      { flags: "--id <id>", summary: "what it is called (default: made from the prompt)" },
      { flags: "--agent <name>", summary: "an agent of `rookery agents`" },
      { flags: "--model <model>", summary: "another model: provider/model, or for a program one that it knows" },
      { flags: "--base <ref>", summary: "a branch, tag or commit to begin from (default: what is checked out)" },
      { flags: "--pipeline <name>", summary: "the stages of a pipeline in rookery.toml" },
      { flags: "--priority <number>", summary: "the greater, the sooner (default: 0)" },
      { flags: "--needs <id>", summary: "a task that must be done first", repeatable: true },
      { flags: "--retries <count>", summary: "how often it is tried again after its agent failed" },
      BUDGET_OPTION,
      PERMISSIONS_OPTION,
      { flags: "--cwd <dir>", summary: "any folder of the repository" },
      DETACH_OPTION,
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes:
      "Where a server runs (`rookery serve`) it gets the task, and the command returns at once. Where none does, the task\n" +
      "runs here, and Ctrl-C stops it: its worktree stays, and `rookery task resume` goes on. What its agent asks is asked\n" +
      "on the terminal, or waits for `rookery answer`.",
    examples: [
      'rookery task start "Add pagination to the list of users"',
      'rookery task start "Review it" --id review --needs add-pagination --agent reviewer',
      "rookery task start - --budget 5usd,30m < task.md",
    ],
    load: () => loadTaskAction(import("./start.ts").then(({ startTaskCommand }) => startTaskCommand)),
  },
  {
    name: "list",
    summary: "list tasks, as they change on a terminal",
    options: [
      {
        flags: "--status <status>",
        summary: "only in one state",
        choices: TASK_STATUSES,
      },
      { flags: "--agent <name>", summary: "only of this agent" },
      { flags: "--cwd <dir>", summary: "only of this folder's repository" },
      { flags: "--limit <count>", summary: "at most this many, what runs first (default: 20)" },
      { flags: "--all", summary: "as many as there are" },
      { flags: "--once", summary: "print them once, also on a terminal" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes: "On a terminal the table is drawn anew as things happen; q or Ctrl-C leaves it.",
    examples: ["rookery task", "rookery task list --status waiting", "rookery task list --all --json"],
    load: () => loadTaskAction(import("./list.ts").then(({ listTasksCommand }) => listTasksCommand)),
  },
  {
    name: "show",
    summary: "show all of a task, and how to answer what it asks",
    arguments: [TASK],
    options: [SERVER_OPTION, JSON_OPTION],
    examples: ["rookery task show last"],
    load: () => loadTaskAction(import("./show.ts").then(({ showTaskCommand }) => showTaskCommand)),
  },
  {
    name: "logs",
    summary: "print what happened to a task and in its sessions",
    arguments: [TASK],
    options: [
      { flags: "--follow", short: "-f", summary: "wait for more, until it has ended" },
      { flags: "--after <position>", summary: "only events after this one" },
      { flags: "--all", summary: "also the agents' own raw events" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    examples: ["rookery task logs last -f", "rookery task logs add-pagination --after 120 --json"],
    load: () => loadTaskAction(import("./logs.ts").then(({ taskLogsCommand }) => taskLogsCommand)),
  },
  {
    name: "stop",
    summary: "stop a task; its worktree stays",
    arguments: [TASK],
    options: [{ flags: "--reason <text>", summary: "why, for the log" }, SERVER_OPTION, JSON_OPTION],
    examples: ["rookery task stop last"],
    load: () => loadTaskAction(import("./stop.ts").then(({ stopTaskCommand }) => stopTaskCommand)),
  },
  {
    name: "resume",
    summary: "go on with a task that has ended, in its worktree and session",
    arguments: [TASK, { name: "prompt", summary: "what to tell its agent; `-` reads it from a pipe", optional: true }],
    options: [BUDGET_OPTION, DETACH_OPTION, SERVER_OPTION, JSON_OPTION],
    examples: ["rookery task resume last", 'rookery task resume last "Also update the docs"'],
    load: () => loadTaskAction(import("./resume.ts").then(({ resumeTaskCommand }) => resumeTaskCommand)),
  },
  {
    name: "diff",
    summary: "print what a task changed, committed or not",
    arguments: [TASK],
    options: [
      { flags: "--stat", summary: "only how much, file by file" },
      { flags: "--name-only", summary: "only the names of the files" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    examples: ["rookery task diff last", "rookery task diff last --stat", "rookery task diff last | git apply"],
    load: () => loadTaskAction(import("./diff.ts").then(({ taskDiffCommand }) => taskDiffCommand)),
  },
  {
    name: "merge",
    summary: "bring what a task did into a branch",
    arguments: [TASK],
    options: [
      { flags: "--how <way>", summary: "one of", choices: MERGE_METHODS },
      { flags: "--into <branch>", summary: "another branch than the one it began from" },
      { flags: "--dry-run", summary: "change nothing, and say what would conflict" },
      { flags: "--gate <command>", summary: "what must pass on the result (default: the configured one)" },
      { flags: "--no-gate", summary: "without the configured one" },
      { flags: "--message <text>", summary: "of the commit that is made" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes:
      "It is done beside your checkout, which changes only once the merge is whole. Exit code 1 where it conflicts, with\n" +
      "the files, or where the gate does not pass.",
    examples: ["rookery task merge last --dry-run", 'rookery task merge last --how squash --message "Add pagination"'],
    load: () => loadTaskAction(import("./merge.ts").then(({ mergeTaskCommand }) => mergeTaskCommand)),
  },
  {
    name: "remove",
    summary: "forget a task with its worktree and branch",
    arguments: [TASK],
    options: [
      { flags: "--force", summary: "although something is not merged or not committed: it is lost" },
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
      { flags: "--dry-run", summary: "only say what would be removed" },
      { flags: "--quota <size>", summary: "only until they have this size together, such as 20GB; 0: all of them" },
      { flags: "--cwd <dir>", summary: "only of this folder's repository" },
      SERVER_OPTION,
      JSON_OPTION,
    ],
    notes: "What is not merged or not committed is never removed here: `rookery task remove --force` does that.",
    examples: ["rookery task gc --dry-run", "rookery task gc --quota 20GB"],
    load: () => loadTaskAction(import("./gc.ts").then(({ collectTasksCommand }) => collectTasksCommand)),
  },
];
