/** The stages of a task with their times. */
import { createMemo, For, Show, type JSX } from "solid-js";
import { formatDuration, visible } from "../format.ts";
import { listPipelineSteps, type PipelineStep } from "./stages.ts";
import { useTask } from "./task-context.tsx";

const SIGNS: Readonly<Record<PipelineStep["status"], string>> = {
  waiting: "○",
  running: "●",
  passed: "✓",
  failed: "✗",
  interrupted: "◌",
};

export function Pipeline(): JSX.Element {
  const { log, runs, now } = useTask();
  const steps = createMemo(() => listPipelineSteps(log.state()?.spec.stages ?? [], runs()));
  const took = ({ tookMs, since }: PipelineStep): number =>
    tookMs + (since === undefined ? 0 : Math.max(0, now() - Date.parse(since)));
  return (
    <Show when={steps().length > 0}>
      <ol class="pipeline" aria-label="Stages">
        <For each={steps()}>
          {(step) => (
            <li>
              <div class={`step ${step.status}`} title={step.message === undefined ? undefined : visible(step.message)}>
                <span class="sign" aria-hidden="true">
                  {SIGNS[step.status]}
                </span>
                <span class="name">{visible(step.name)}</span>
                <Show when={step.detail !== step.name}>
                  <span class="muted small detail">{visible(step.detail)}</span>
                </Show>
                <span class="muted small progress">
                  {step.status === "waiting" ? "waiting" : `${step.status} · ${formatDuration(took(step))}`}
                  {step.runs > 1 ? ` · ${step.runs} runs` : ""}
                </span>
              </div>
            </li>
          )}
        </For>
      </ol>
    </Show>
  );
}
