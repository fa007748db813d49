/** The predicted or real result of a merge, with what to do about conflicts. */
import { For, Match, Show, Switch, type JSX } from "solid-js";
import type { MergeReport } from "../../../src/domain/task/view.ts";
import { createAction } from "../action.ts";
import { visible } from "../format.ts";
import { useServer } from "../server.tsx";
import { formatConflictPrompt, formatGatePrompt } from "./merge-prompts.ts";
import { sendToTask } from "./task-calls.ts";
import { useTask } from "./task-context.tsx";

interface MergeResultProps {
  readonly report: MergeReport;
  /** Called when the agent got the work. */
  onSent(): void;
}

export function MergeResult(props: MergeResultProps): JSX.Element {
  const { client } = useServer();
  const { task, runs } = useTask();
  const ask = createAction(async (prompt: string) => sendToTask(client, task(), prompt));
  const send = async (prompt: string): Promise<void> => {
    if (await ask.run(prompt)) props.onSent();
  };
  const commits = (): string => `${props.report.commits} ${props.report.commits === 1 ? "commit" : "commits"}`;
  const gateOutput = (): string => runs().findLast(({ kind }) => kind === "gate")?.output ?? "";
  const into = (): string => visible(props.report.into);
  return (
    <>
      <Switch>
        <Match when={props.report.already}>
          <p class="good">Already merged into {into()}: the task has no changes since then.</p>
        </Match>
        <Match when={props.report.outcome === "nothing"}>
          <p>Nothing to merge: {into()} has all of its changes.</p>
        </Match>
        <Match when={props.report.outcome === "merged" && props.report.dryRun}>
          <p class="good">
            {commits()} would merge into {into()} without conflicts.
          </p>
        </Match>
        <Match when={props.report.outcome === "merged"}>
          <p class="good">
            Merged into {into()}
            <Show when={props.report.commit}>
              {(commit) => (
                <>
                  {" "}
                  as <code>{commit().slice(0, 9)}</code>
                </>
              )}
            </Show>
            .
          </p>
        </Match>
        <Match when={props.report.outcome === "conflicts"}>
          <p class="bad">
            {props.report.dryRun ? "It would conflict" : "Not merged: it conflicts"} with {into()} in{" "}
            {props.report.conflicts.length === 1 ? "this file" : `these ${props.report.conflicts.length} files`}:
          </p>
          <ul class="conflicts mono small">
            <For each={props.report.conflicts}>{(file) => <li>{visible(file)}</li>}</For>
          </ul>
          <button
            type="button"
            disabled={ask.isRunning()}
            onClick={() => void send(formatConflictPrompt(props.report.into, props.report.conflicts))}
          >
            {ask.isRunning()
              ? "Asking…"
              : `Ask the agent to resolve ${props.report.conflicts.length === 1 ? "it" : "them"}`}
          </button>
        </Match>
        <Match when={props.report.outcome === "gate_failed"}>
          <p class="bad">Not merged: the gate did not pass on the merged result.</p>
          <button
            type="button"
            disabled={ask.isRunning()}
            onClick={() => void send(formatGatePrompt(props.report.into, gateOutput()))}
          >
            {ask.isRunning() ? "Asking…" : "Ask the agent to fix it"}
          </button>
        </Match>
        <Match when={props.report.outcome === "failed"}>
          <p class="bad">{props.report.dryRun ? "It would fail." : "Not merged."}</p>
        </Match>
      </Switch>
      <Show when={props.report.outcome !== "conflicts" && props.report.message}>
        {(message) => <p class="small">{visible(message())}</p>}
      </Show>
      <Show when={ask.error()}>
        {(error) => (
          <p class="bad" role="alert">
            Not sent: {visible(error())}
          </p>
        )}
      </Show>
    </>
  );
}
