/** `/tasks` and `/task`. */
import { usageError } from "../../exit.ts";
import { formatAge, formatColumns } from "../../format.ts";
import { toSingleLine } from "../../sanitize.ts";
import type { ChatHost } from "../host.ts";

const MAX_TASKS = 20;

export async function listTasks(chat: ChatHost): Promise<void> {
  const tasks = (await chat.connection.rookery.tasks.list({ cwd: chat.cwd })).slice(0, MAX_TASKS);
  if (tasks.length === 0) return chat.notice("there is no task in this repository; start one with /task PROMPT", "dim");
  const rows = tasks.map(({ id, status, title, createdAt }) => [
    id,
    status,
    formatAge(createdAt, Date.now()),
    toSingleLine(title, 60),
  ]);
  chat.notice(`${formatColumns(rows)}rookery task shows more`);
}

/** The task runs in this process until the chat ends, unless a server takes it. */
export async function startTask(chat: ChatHost, prompt: string): Promise<void> {
  if (prompt === "") throw usageError("say what to do: /task Fix the failing test");
  const { rookery } = chat.connection;
  const { id } = await rookery.startTask({ prompt, cwd: chat.cwd, agent: chat.state.agent });
  rookery.runTasks({ only: id }).catch((error: unknown) => chat.fail(error));
  chat.notice(`task ${id} runs in its own worktree while this chat is open; see rookery task show ${id}`, "dim");
}
