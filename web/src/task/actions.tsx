/** The actions on a task: stop, resume, merge and remove. */
import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import { isEndedStatus } from "../../../src/domain/enums.ts";
import { createAction } from "../action.ts";
import { visible } from "../format.ts";
import { useServer } from "../server.tsx";
import { ActionMenu } from "../shell/action-menu.tsx";
import { isNarrow } from "../shell/narrow.ts";
import { MergeDialog } from "./merge-dialog.tsx";
import { RemoveDialog } from "./remove-dialog.tsx";
import { resumeTask, stopTask } from "./task-calls.ts";
import { useTask } from "./task-context.tsx";

type TaskAction = "stop" | "resume" | "merge" | "remove";

interface ActionsProps {
  /** More entries of the menu that a narrow screen has. */
  readonly menuItems: JSX.Element;
}

/** A narrow screen has the next action beside the title, and the others in a menu. */
export function Actions(props: ActionsProps): JSX.Element {
  const { client } = useServer();
  const { id, task } = useTask();
  const [open, setOpen] = createSignal<Exclude<TaskAction, "stop">>();
  const stop = createAction(() => stopTask(client, id));
  const isEnded = (): boolean => isEndedStatus(task().status);
  const hasWorktree = (): boolean => task().worktree !== undefined && task().worktree?.removed !== true;
  const isMergeNext = (): boolean => hasWorktree() && task().status === "done" && task().merge?.outcome !== "merged";
  const available = createMemo((): readonly TaskAction[] => [
    ...(isEnded() ? (["resume"] as const) : (["stop"] as const)),
    ...(hasWorktree() ? (["merge"] as const) : []),
    ...(isEnded() ? (["remove"] as const) : []),
  ]);
  const next = (): TaskAction => (isMergeNext() ? "merge" : isEnded() ? "resume" : "stop");
  const button = (action: TaskAction): JSX.Element => {
    switch (action) {
      case "stop":
        return (
          <button type="button" disabled={stop.isRunning()} onClick={() => void stop.run()}>
            {stop.isRunning() ? "Stopping…" : "Stop"}
          </button>
        );
      case "resume":
        return (
          <button
            type="button"
            class={task().status === "done" ? undefined : "primary"}
            aria-expanded={open() === "resume"}
            onClick={() => setOpen(open() === "resume" ? undefined : "resume")}
          >
            Resume…
          </button>
        );
      case "merge":
        return (
          <button type="button" class={isMergeNext() ? "primary" : undefined} onClick={() => setOpen("merge")}>
            Merge…
          </button>
        );
      case "remove":
        return (
          <button type="button" onClick={() => setOpen("remove")}>
            Remove…
          </button>
        );
    }
  };
  return (
    <>
      <div class="actions">
        <For each={isNarrow() ? [next()] : available()}>{button}</For>
        <Show when={isNarrow()}>
          <ActionMenu>
            <For each={available().filter((action) => action !== next())}>{button}</For>
            {props.menuItems}
          </ActionMenu>
        </Show>
      </div>
      <Show when={stop.error()}>
        {(error) => (
          <p class="bad" role="alert">
            Not stopped: {visible(error())}
          </p>
        )}
      </Show>
      <Show when={open() === "resume" && isEnded()}>
        <ResumeForm onDone={() => setOpen(undefined)} />
      </Show>
      <Show when={open() === "merge"}>
        <MergeDialog onClose={() => setOpen(undefined)} />
      </Show>
      <Show when={open() === "remove"}>
        <RemoveDialog onClose={() => setOpen(undefined)} />
      </Show>
    </>
  );
}

function ResumeForm(props: { onDone(): void }): JSX.Element {
  const { client } = useServer();
  const { id } = useTask();
  const [prompt, setPrompt] = createSignal("");
  const resume = createAction(() => resumeTask(client, id, prompt()));
  const submit = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    if (await resume.run()) props.onDone();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit(event);
    if (event.key === "Escape") props.onDone();
  };
  return (
    <form class="resume" onSubmit={(event) => void submit(event)} onKeyDown={onKeyDown}>
      <label for="resume-prompt">What the agent should do next (optional)</label>
      <textarea
        id="resume-prompt"
        rows="3"
        value={prompt()}
        ref={(element) => queueMicrotask(() => element.focus())}
        onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
      />
      <div class="actions">
        <button class="primary" disabled={resume.isRunning()}>
          {resume.isRunning() ? "Resuming…" : "Resume"}
        </button>
        <button type="button" class="plain" onClick={() => props.onDone()}>
          Cancel
        </button>
        <span class="muted small">
          It continues in the same worktree and conversation.<span class="key-hint"> Ctrl+Enter sends.</span>
        </span>
      </div>
      <Show when={resume.error()}>
        {(error) => (
          <p class="bad" role="alert">
            Not resumed: {visible(error())}
          </p>
        )}
      </Show>
    </form>
  );
}
