/** The description and the arguments of the `delegate` tool. */
import { z } from "zod";
import type { ChildAgent, SubagentLimits, ToolDescription } from "../../domain/index.ts";

export interface SubagentTask {
  readonly prompt: string;
  readonly title: string;
  readonly agent: string | undefined;
}

const MAX_TITLE_LENGTH = 60;
/** Maximum length of all titles together, on one line. */
const MAX_TITLES_LENGTH = 300;
const MAX_AGENTS = 20;

const Input = z.lazy(() =>
  z.strictObject({
    tasks: z
      .array(
        z.strictObject({
          prompt: z
            .string()
            .trim()
            .min(1)
            .describe("Everything that the sub-agent must know, and what it must report."),
          title: z.string().optional().describe("A short title for the user."),
          agent: z.string().optional().describe("The name of another agent. Default: an agent like you."),
        }),
      )
      .min(1),
  }),
);

export function createDelegateSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(Input.unwrap()) as Record<string, unknown>;
  return schema;
}

/** Returns the tasks, or a message that says what is wrong with the arguments. */
export function parseTasks(input: unknown): readonly SubagentTask[] | string {
  const parsed = Input.safeParse(input);
  if (!parsed.success) return `invalid arguments: ${z.prettifyError(parsed.error)}`;
  return parsed.data.tasks.map(({ prompt, title, agent }) => ({ prompt, title: makeTitle(title, prompt), agent }));
}

export function describeTasks(input: unknown): ToolDescription {
  const tasks = parseTasks(input);
  if (typeof tasks === "string") return { title: "sub-agents" };
  const titles = truncateTitle(tasks.map(({ title }) => title).join("; "), MAX_TITLES_LENGTH);
  return { title: tasks.length === 1 ? `sub-agent: ${titles}` : `${tasks.length} sub-agents: ${titles}` };
}

export function describeDelegateTool(
  { maxWidth, maxRunning }: SubagentLimits,
  agents: readonly ChildAgent[],
  ownName: string,
): string {
  const others = agents.filter(({ name }) => name !== ownName);
  const names = others.slice(0, MAX_AGENTS).map(({ name, model, backend }) => `${name} (${model ?? backend})`);
  return [
    "Delegates tasks to sub-agents, which run concurrently, each in its own conversation. Returns when all of them have",
    "ended: for each task, in order, its outcome and the sub-agent's last message. Use it for parts that do not depend on",
    "each other: searches in several places, reviews of a change from several angles, changes to different files.",
    "A sub-agent knows nothing of this conversation, so its prompt must contain everything that it needs. All of them work",
    "in your working directory at the same time: never let two of them change the same file, and let none of them commit",
    "or switch branches. They have your permissions, and the user is asked whenever you would have to ask.",
    `At most ${maxWidth} tasks in one call; at most ${maxRunning} run concurrently, and the others wait.`,
    ...(names.length === 0 ? [] : [`Other agents: ${names.join(", ")}.`]),
  ].join("\n");
}

function makeTitle(title: string | undefined, prompt: string): string {
  const text = (title?.trim() || prompt).replace(/\s+/g, " ").trim();
  return truncateTitle(text, MAX_TITLE_LENGTH);
}

function truncateTitle(text: string, maxLength: number): string {
  return text.length <= maxLength ? text.toWellFormed() : `${text.slice(0, maxLength - 1).toWellFormed()}…`;
}
