/** The results of check stages, of the setup and of merge gates, with what they printed. */
import { createMemo, For, Show, type JSX } from "solid-js";
import { formatDuration, visible } from "../format.ts";
import { cleanOutput } from "../session/output.ts";
import type { StageRun } from "./stages.ts";
import { useTask } from "./task-context.tsx";

export function isCheck({ kind, output }: StageRun): boolean {
  return kind === "command" || kind === "gate" || kind === "merge" || (kind === "setup" && output !== "");
}

export function Checks(): JSX.Element {
  const { runs } = useTask();
  const count = createMemo(() => runs().filter(isCheck).length);
  const newestFirst = (): readonly number[] => Array.from({ length: count() }, (_, index) => count() - 1 - index);
  const runAt = (index: number): StageRun | undefined => runs().filter(isCheck)[index];
  return (
    <Show
      when={count() > 0}
      fallback={
        <p class="empty">No checks have run. Command stages of a pipeline, and gates of merges, are shown here.</p>
      }
    >
      <div class="checks">
        <For each={newestFirst()}>{(index) => <Show when={runAt(index)}>{(run) => <Check run={run()} />}</Show>}</For>
      </div>
    </Show>
  );
}

const STATUS_GROUPS: Readonly<Record<StageRun["status"], string>> = {
  running: "working",
  passed: "done",
  failed: "failed",
  interrupted: "",
};

function Check(props: { readonly run: StageRun }): JSX.Element {
  const { now } = useTask();
  const took = (): string => {
    const end = props.run.endedAt === undefined ? now() : Date.parse(props.run.endedAt);
    return formatDuration(Math.max(0, end - Date.parse(props.run.startedAt)));
  };
  const startsOpen = props.run.status === "failed" || props.run.status === "running";
  return (
    <details class="check-run" open={startsOpen}>
      <summary>
        <span class={`status ${STATUS_GROUPS[props.run.status]}`}>{props.run.status}</span>
        <strong>{visible(props.run.name)}</strong>
        <Show when={props.run.attempt > 1}>
          <span class="muted small">attempt {props.run.attempt}</span>
        </Show>
        <Show when={props.run.command}>{(command) => <code class="small">{visible(command())}</code>}</Show>
        <span class="muted small took">{took()}</span>
      </summary>
      <Show when={props.run.message}>{(message) => <p class="small">{visible(message())}</p>}</Show>
      <Output run={props.run} />
    </details>
  );
}

export function Output(props: { readonly run: StageRun }): JSX.Element {
  const text = createMemo(() => cleanOutput(props.run.output).trimEnd());
  return (
    <Show when={text() !== ""} fallback={<p class="muted small">No output.</p>}>
      <Show when={props.run.omitted > 0}>
        <p class="muted small">The first {props.run.omitted.toLocaleString("en-US")} characters are in the events.</p>
      </Show>
      <pre class="run-output" tabindex="0" role="region" aria-label={`Output of ${visible(props.run.name)}`}>
        {text()}
      </pre>
    </Show>
  );
}
