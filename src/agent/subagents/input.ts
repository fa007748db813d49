/** What a model is told of sub-agents, and what it says that they are to do. */
import { z } from "zod";
import type { ChildAgent, SubagentLimits, ToolDescription } from "../../domain/index.ts";

export interface Task {
  readonly prompt: string;
  readonly title: string;
  readonly agent: string | undefined;
}

const TITLE_LENGTH = 60;
/** Of all of them together, in one line. */
const TITLES_LENGTH = 300;
const MOST_AGENTS = 20;

const Input = z.lazy(() =>
  z.strictObject({
    tasks: z
      .array(
        z.strictObject({
          prompt: z.string().trim().min(1).describe("All that the sub-agent has to know, and what it is to report."),
          title: z.string().optional().describe("A few words for the user."),
          agent: z.string().optional().describe("Another agent than you, by its name."),
        }),
      )
      .min(1),
  }),
);

export function inputSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(Input.unwrap()) as Record<string, unknown>;
  return schema;
}

/** Or in words what is wrong with them. */
export function parseTasks(input: unknown): readonly Task[] | string {
  const parsed = Input.safeParse(input);
  if (!parsed.success) return `the arguments do not fit: ${z.prettifyError(parsed.error)}`;
  return parsed.data.tasks.map(({ prompt, title, agent }) => ({ prompt, title: titleOf(title, prompt), agent }));
}

export function describeTasks(input: unknown): ToolDescription {
  const tasks = parseTasks(input);
  if (typeof tasks === "string") return { title: "sub-agents" };
  const titles = shortened(tasks.map(({ title }) => title).join("; "), TITLES_LENGTH);
  return { title: tasks.length === 1 ? `sub-agent: ${titles}` : `${tasks.length} sub-agents: ${titles}` };
}

export function wordsFor({ maxWidth, maxRunning }: SubagentLimits, agents: readonly ChildAgent[], own: string): string {
  const others = agents.filter(({ name }) => name !== own);
  const shown = others.slice(0, MOST_AGENTS).map(({ name, model, backend }) => `${name} (${model ?? backend})`);
  return [
    "Gives tasks to sub-agents, which work on them at the same time, each in a conversation of its own. Returns when all",
    "of them have ended: for each, in the order of the tasks, how it ended and what it said last. Use it for parts that do",
    "not depend on each other: searching in several places, looking at a change from several sides, changes to different",
    "files. A sub-agent knows nothing of this conversation, so its prompt must hold all that it needs. All of them work in",
    "your working folder, at the same time as each other: never have two change the same file, and have none commit or",
    "switch branches. They may do what you may do, and the user is asked where you would have to ask.",
    `At most ${maxWidth} tasks in one call; ${maxRunning} run at once, and the others wait.`,
    ...(shown.length === 0 ? [] : [`Agents beside you: ${shown.join(", ")}.`]),
  ].join("\n");
}

function titleOf(title: string | undefined, prompt: string): string {
  const text = (title?.trim() || prompt).replace(/\s+/g, " ").trim();
  return shortened(text, TITLE_LENGTH);
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text.toWellFormed() : `${text.slice(0, most - 1).toWellFormed()}…`;
}
