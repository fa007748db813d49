/** The runs of the stages of a task, and the output of its commands: a fold over the events of the task. */
import type { TaskEvent } from "../../../src/domain/task/events.ts";
import type { MergeHow, Stage, TaskSpec } from "../../../src/domain/task/spec.ts";

export type RunStatus = "running" | "passed" | "failed" | "interrupted";

export interface StageRun {
  /** `setup` prepares the worktree. `gate` checks the result of a merge. */
  readonly kind: "setup" | Stage["kind"] | "gate";
  /** The index in the pipeline. Undefined for `setup` and `gate`. */
  readonly stage: number | undefined;
  readonly name: string;
  readonly attempt: number;
  /** The `seq` of the event that started it. */
  readonly seq: number;
  readonly startedAt: string;
  readonly endedAt: string | undefined;
  readonly status: RunStatus;
  readonly message: string | undefined;
  readonly command: string | undefined;
  /** The end of what its command printed, at most `MAX_OUTPUT` characters. */
  readonly output: string;
  /** Number of characters before `output` that are only in the events. */
  readonly omitted: number;
}

export const MAX_OUTPUT = 100_000;

type MutableRun = { -readonly [Key in keyof StageRun]: StageRun[Key] };

/** Oldest first. */
export function listStageRuns(events: readonly TaskEvent[]): readonly StageRun[] {
  const runs: MutableRun[] = [];
  let spec: TaskSpec | undefined;
  const findRunning = (matches: (run: MutableRun) => boolean): MutableRun | undefined =>
    runs.findLast((run) => run.endedAt === undefined && matches(run));
  const end = (run: MutableRun | undefined, at: string, status: RunStatus, message?: string): void => {
    if (run !== undefined) Object.assign(run, { endedAt: at, status, message });
  };
  const start = (event: TaskEvent, run: Partial<MutableRun> & Pick<MutableRun, "kind" | "name">): void => {
    runs.push({ ...NEW_RUN, ...run, seq: event.seq, startedAt: event.at });
  };
  for (const event of events) {
    switch (event.type) {
      case "task.created":
        spec = event.spec;
        break;
      case "worktree.made":
        if (event.anew) start(event, { kind: "setup", name: "setup" });
        break;
      case "worktree.ready": {
        const setup = findRunning(({ kind }) => kind === "setup");
        end(setup, event.at, "passed");
        break;
      }
      case "stage.started": {
        const { stage, name, attempt } = event;
        const declared = spec?.stages[stage];
        const command = declared?.kind === "command" ? declared.command : undefined;
        start(event, { kind: declared?.kind ?? "agent", stage, name, attempt, command });
        break;
      }
      case "stage.ended":
        end(
          findRunning(({ stage }) => stage === event.stage),
          event.at,
          event.passed ? "passed" : "failed",
          event.message,
        );
        break;
      case "merge.asked":
        if (event.gate !== undefined) start(event, { kind: "gate", name: "gate", command: event.gate });
        break;
      case "merge.ended": {
        const isRefused = event.outcome === "gate_failed";
        const status = event.outcome === "merged" ? "passed" : isRefused ? "failed" : "interrupted";
        end(findRunning(({ kind }) => kind === "gate"), event.at, status, event.message); // prettier-ignore
        break;
      }
      case "output.text":
        addOutput(findRunning(({ kind, name }) => name === event.from || kind === event.from), event.text); // prettier-ignore
        break;
      case "task.ended":
      case "task.parked":
      case "task.queued": {
        const isFailed = event.type === "task.ended" && event.outcome === "failed";
        for (const run of runs) {
          if (run.endedAt === undefined && run.kind !== "gate") end(run, event.at, isFailed ? "failed" : "interrupted");
        }
        break;
      }
      case "task.started":
      case "task.stop_asked":
      case "merge.prepared":
      case "merge.waiting":
      case "worktree.saved":
      case "worktree.removed":
      case "task.removed":
      case "notice":
        break;
    }
  }
  return runs;
}

const NEW_RUN = {
  stage: undefined,
  attempt: 1,
  endedAt: undefined,
  status: "running",
  message: undefined,
  command: undefined,
  output: "",
  omitted: 0,
} as const;

function addOutput(run: MutableRun | undefined, text: string): void {
  if (run === undefined) return;
  run.output += text;
  const over = run.output.length - MAX_OUTPUT;
  if (over <= 0) return;
  run.output = run.output.slice(over);
  run.omitted += over;
}

export interface PipelineStep {
  readonly name: string;
  readonly kind: StageRun["kind"];
  readonly status: RunStatus | "waiting";
  /** Number of times that it ran. */
  readonly runs: number;
  /** The total time of its runs that have ended, in milliseconds. */
  readonly tookMs: number;
  /** Since when it runs. */
  readonly since: string | undefined;
  readonly message: string | undefined;
  /** The agent, the command, or how it merges. */
  readonly detail: string;
}

/** The steps of the pipeline in order, with the setup of the worktree if it has one. */
export function listPipelineSteps(stages: readonly Stage[], runs: readonly StageRun[]): readonly PipelineStep[] {
  const setups = runs.filter(({ kind }) => kind === "setup");
  const steps = stages.map((stage, index) => {
    const own = runs.filter((run) => run.stage === index);
    return toStep(stage.name, stage.kind, own, describeStage(stage));
  });
  return setups.length === 0 ? steps : [toStep("setup", "setup", setups, "the worktree"), ...steps];
}

function toStep(name: string, kind: StageRun["kind"], runs: readonly StageRun[], detail: string): PipelineStep {
  const last = runs.at(-1);
  const tookMs = runs.reduce((sum, { startedAt, endedAt }) => sum + durationOf(startedAt, endedAt), 0);
  const since = last?.status === "running" ? last.startedAt : undefined;
  return {
    name,
    kind,
    status: last?.status ?? "waiting",
    runs: runs.length,
    tookMs,
    since,
    message: last?.message,
    detail,
  };
}

function durationOf(start: string, end: string | undefined): number {
  return end === undefined ? 0 : Math.max(0, Date.parse(end) - Date.parse(start));
}

function describeStage(stage: Stage): string {
  if (stage.kind === "agent") return stage.agent;
  return stage.kind === "command" ? stage.command : describeMerge(stage);
}

function describeMerge({ how, into }: { readonly how: MergeHow; readonly into?: string | undefined }): string {
  return into === undefined ? how : `${how} into ${into}`;
}
