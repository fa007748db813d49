/** The header of a task: what it is, what it waits for, and what a person can do with it. */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import type { TaskView } from "../../../src/domain/task/view.ts";
import { folderName, formatDuration, formatTokens, formatUsd, visible } from "../format.ts";
import { taskRow } from "../roster/groups.ts";
import type { TaskTab } from "../routes.ts";
import { Link } from "../shell/link.tsx";
import { isNarrow } from "../shell/narrow.ts";
import { Actions } from "./actions.tsx";
import { useTask } from "./task-context.tsx";

export function Header(props: { readonly tab: TaskTab }): JSX.Element {
  const { id, task, log, now } = useTask();
  const row = createMemo(() => taskRow(task()));
  const [showsDetails, setShowsDetails] = createSignal(!isNarrow()); // only at the start: then the person decides
  const elapsed = (): number => {
    const state = log.state();
    if (state === undefined) return task().ranMs;
    return state.ranMs + (state.runningSince === undefined ? 0 : Math.max(0, now() - Date.parse(state.runningSince)));
  };
  const facts = (): readonly Fact[] => [
    ["Agent", task().agent],
    ["Repository", folderName(task().repository), task().repository],
    ...branchFacts(task()),
    ["Elapsed", elapsed() > 0 ? formatDuration(elapsed()) : "not started"],
    ...usageFacts(task()),
  ];
  return (
    <header class="task-head">
      <div class="task-title">
        <h1 title={visible(task().title)}>{visible(task().title)}</h1>
        <span class={`status ${row().group}`}>{row().status}</span>
      </div>
      <Actions
        menuItems={
          <button type="button" aria-expanded={showsDetails()} onClick={() => setShowsDetails(!showsDetails())}>
            {showsDetails() ? "Hide details" : "Details"}
          </button>
        }
      />
      <Show
        when={isNarrow()}
        fallback={
          <details
            class="task-details"
            open={showsDetails()}
            onToggle={({ currentTarget }) => setShowsDetails(currentTarget.open)}
          >
            <summary class="muted small">Details</summary>
            <Details facts={facts()} />
          </details>
        }
      >
        <Show when={showsDetails()}>
          <div class="task-details">
            <Details facts={facts()} />
          </div>
        </Show>
      </Show>
      <Show when={task().status === "waiting" && props.tab !== "conversation"}>
        <p class="task-notice warn-surface">
          The agent waits for your answer.{" "}
          <Link to={{ screen: "task", id, tab: "conversation" }}>Go to the conversation</Link>
        </p>
      </Show>
      <Show when={reasonOf(task())}>
        {(reason) => (
          <p class={`task-notice ${task().status === "failed" ? "bad-surface" : ""}`}>{visible(reason())}</p>
        )}
      </Show>
      <Show when={mergeNotice(task())}>{(notice) => <p class="task-notice">{visible(notice())}</p>}</Show>
    </header>
  );
}

type Fact = readonly [name: string, value: string, title?: string];

function Details(props: { readonly facts: readonly Fact[] }): JSX.Element {
  const { task } = useTask();
  return (
    <>
      <dl class="facts">
        <For each={props.facts}>
          {([name, value, title]) => (
            <div>
              <dt class="muted small">{name}</dt>
              <dd title={title === undefined ? undefined : visible(title)}>{visible(value)}</dd>
            </div>
          )}
        </For>
      </dl>
      <Show when={task().prompt.trim() !== task().title.trim()}>
        <details class="task-prompt">
          <summary class="muted small">Prompt</summary>
          <p class="task-prompt-text">{visible(task().prompt)}</p>
        </details>
      </Show>
    </>
  );
}

function branchFacts({ worktree }: TaskView): readonly (readonly [string, string])[] {
  if (worktree === undefined) return [];
  const removed = worktree.removed ? " (removed)" : "";
  return [["Branch", `${worktree.branch}${removed} from ${worktree.base}`]];
}

function usageFacts({ usage }: TaskView): readonly (readonly [string, string])[] {
  const tokens = usage.inputTokens + usage.outputTokens;
  if (tokens === 0) return [];
  const cost = usage.costUsd === undefined ? [] : [["Cost", formatUsd(usage.costUsd)] as const];
  return [["Tokens", formatTokens(tokens)], ...cost];
}

/** Why a task failed, or what it waits for. */
function reasonOf({ message, notBefore, status }: TaskView): string | undefined {
  const until = notBefore === undefined ? undefined : `until ${new Date(notBefore).toLocaleString()}`;
  if (status === "parked") return [`Parked ${until ?? ""}`.trim(), message].filter(Boolean).join(": ");
  if (status === "queued") return [`Waits ${until ?? "in the queue"}`, message].filter(Boolean).join(": ");
  return message;
}

function mergeNotice({ merge }: TaskView): string | undefined {
  if (merge === undefined) return undefined;
  const commit = merge.commit === undefined ? "" : ` as ${merge.commit.slice(0, 9)}`;
  switch (merge.outcome) {
    case undefined:
      return `Merging into ${merge.into}…`;
    case "merged":
      return `Merged into ${merge.into}${commit} (${merge.how}).`;
    case "nothing":
      return `The last merge into ${merge.into} had nothing to do.`;
    case "conflicts":
      return `The last merge into ${merge.into} has conflicts in ${(merge.conflicts ?? []).join(", ")}.`;
    case "gate_failed":
    case "failed":
      return `The last merge into ${merge.into} failed: ${merge.message ?? "the gate did not pass"}`;
  }
}
