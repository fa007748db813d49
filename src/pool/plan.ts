/** Turns a request into a task that can be stored, with the agent, stages and limits of the current configuration. */
import { resolveAgent, type Config, type StageTable } from "../config/index.ts";
import { backendLabel } from "../domain/backend-name.ts";
import { isBackendKind } from "../domain/enums.ts";
import { RookeryError, type Stage, type StartTask, type TaskSpec } from "../domain/index.ts";

const TITLE_LENGTH = 80;
const MAX_PROMPT_LENGTH = 1024 * 1024;
const COMMAND_TIMEOUT_S = 1800;
const TRIES_WITH_BACK_TO = 3;

/** Throws `agent_unknown`, `config_invalid`, `input_invalid` or `input_too_large`. */
export function planTask(request: StartTask, repository: string, config: Config): TaskSpec {
  const { prompt, model, permissions, base, budget = {} } = request;
  checkRequest(request);
  const stages = planStages(request, config);
  const first = stages.find((stage) => stage.kind === "agent")?.agent ?? request.agent;
  const agent = resolveAgent(config, first);
  const labels = [...new Set([...(request.labels ?? []), ...neededBackends(stages, config)])];
  const provider = modelProvider(model ?? agent.model) ?? agent.backend;
  return {
    prompt,
    title: request.title ?? taskTitle(prompt),
    repository,
    ...(labels.length > 0 && { labels }),
    agent: agent.name,
    provider,
    ...(model !== undefined && { model }),
    ...(permissions !== undefined && { permissions }),
    ...(base !== undefined && { base }),
    priority: request.priority ?? 0,
    needs: [...new Set(request.needs ?? [])],
    retries: request.retries ?? 0,
    budget,
    stages,
    limits: {
      ...(config.limits.perRepository !== undefined && { repository: config.limits.perRepository }),
      ...(agent.maxRunning !== undefined && { agent: agent.maxRunning }),
      ...(config.limits.providers[provider] !== undefined && { provider: config.limits.providers[provider] }),
    },
  };
}

/** Labels of the registered backends that the agents of the task use. Only processes that register them have these. */
function neededBackends(stages: readonly Stage[], config: Config): string[] {
  const agents = stages.flatMap((stage) => (stage.kind === "agent" ? [resolveAgent(config, stage.agent)] : []));
  return agents.flatMap(({ backend }) => (isBackendKind(backend) ? [] : [backendLabel(backend)]));
}

function checkRequest({ prompt, priority = 0, retries = 0 }: StartTask): void {
  if (prompt.trim() === "")
    throw new RookeryError("input_invalid", "the prompt is empty; describe what the agent has to do");
  if (prompt.length > MAX_PROMPT_LENGTH) {
    const fix = "put the text into a file of the repository and name the file in the prompt";
    const message = `the prompt has ${prompt.length} characters, but at most ${MAX_PROMPT_LENGTH} are allowed; ${fix}`;
    throw new RookeryError("input_too_large", message);
  }
  if (!Number.isInteger(priority) || Math.abs(priority) > 1000) {
    throw new RookeryError("input_invalid", `the priority must be an integer from -1000 to 1000, not ${priority}`);
  }
  if (!Number.isInteger(retries) || retries < 0 || retries > 100) {
    throw new RookeryError("input_invalid", `retries must be an integer from 0 to 100, not ${retries}`);
  }
}

function planStages({ pipeline, agent }: StartTask, config: Config): Stage[] {
  if (pipeline === undefined) {
    return [{ kind: "agent", name: "work", agent: resolveAgent(config, agent).name, tries: 1 }];
  }
  const tables = config.pipelines.get(pipeline);
  if (tables === undefined) {
    const known = [...config.pipelines.keys()].join(", ");
    const fix = known === "" ? "add [pipelines.NAME] to rookery.toml" : `configured pipelines: ${known}`;
    throw new RookeryError("config_invalid", `there is no pipeline "${pipeline}"; ${fix}`);
  }
  const names = tables.map(stageName);
  return tables.map((table, index) => {
    const where = `pipelines.${pipeline}, stage ${names[index] ?? index}`;
    if (names.indexOf(names[index] ?? "") !== index) {
      throw new RookeryError("config_invalid", `${where}: another stage has the same name; rename one of them`);
    }
    if (table.back_to !== undefined && !names.slice(0, index + 1).includes(table.back_to)) {
      const earlier = names.slice(0, index).join(", ") || "none";
      throw new RookeryError(
        "config_invalid",
        `${where}: back_to = "${table.back_to}" does not name an earlier stage (earlier stages: ${earlier})`,
      );
    }
    return planStage(table, names[index] ?? "", config);
  });
}

function stageName(table: StageTable): string {
  return table.name ?? table.agent ?? (table.run === undefined ? "merge" : "check");
}

function planStage(table: StageTable, name: string, config: Config): Stage {
  const { agent, model, prompt, pass, run, timeout = COMMAND_TIMEOUT_S, merge, into, gate } = table;
  const common = {
    name,
    tries: table.tries ?? (table.back_to === undefined ? 1 : TRIES_WITH_BACK_TO),
    ...(table.back_to !== undefined && { backTo: table.back_to }),
  };
  if (agent !== undefined) {
    const named = resolveAgent(config, agent).name;
    return { kind: "agent", ...common, agent: named, ...omitUndefined({ model, prompt, pass }) };
  }
  if (run !== undefined) return { kind: "command", ...common, command: run, timeout };
  return {
    kind: "merge",
    ...common,
    how: merge ?? config.merge.how,
    ...omitUndefined({ into, gate: gate ?? config.merge.gate }),
  };
}

/** Returns undefined for the model names of programs, which have no provider prefix. */
function modelProvider(model = ""): string | undefined {
  return model.includes("/") ? model.split("/")[0] : undefined;
}

function taskTitle(prompt: string): string {
  const line = prompt.trim().split("\n")[0] ?? "";
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1).toWellFormed()}…` : line;
}

function omitUndefined<Of extends object>(values: Of): { [Key in keyof Of]?: Exclude<Of[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
