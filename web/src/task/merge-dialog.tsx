/** Merges a task: a prediction first, then the merge with the output of its gate. */
import { createEffect, createSignal, For, on, Show, type JSX } from "solid-js";
import { isEndedStatus, MERGE_METHODS } from "../../../src/domain/enums.ts";
import type { MergeHow } from "../../../src/domain/task/spec.ts";
import type { MergeReport } from "../../../src/domain/task/view.ts";
import { createAction } from "../action.ts";
import { readConfiguredGate } from "../dispatch/folder-setup.ts";
import { visible } from "../format.ts";
import { createReading } from "../reading.ts";
import { useServer } from "../server.tsx";
import { Dialog } from "../shell/dialog.tsx";
import { Output } from "./checks.tsx";
import { MergeResult } from "./merge-result.tsx";
import { mergeTask, predictMerge, type MergeChoice } from "./task-calls.ts";
import { useTask } from "./task-context.tsx";

const METHODS: Readonly<Record<MergeHow, string>> = {
  merge: "Merge commit",
  squash: "Squash into one commit",
  rebase: "Rebase, without a merge commit",
};

type GateChoice = "configured" | "none" | "command";

export function MergeDialog(props: { onClose(): void }): JSX.Element {
  const { client } = useServer();
  const { id, task, log, runs } = useTask();
  const [how, setHow] = createSignal<MergeHow>();
  const [into, setInto] = createSignal<string>();
  const [gate, setGate] = createSignal<GateChoice>("configured");
  const [command, setCommand] = createSignal("");
  const [result, setResult] = createSignal<MergeReport>();
  const [startSeq, setStartSeq] = createSignal<number>();
  const isEnded = (): boolean => isEndedStatus(task().status);

  const target = (): MergeChoice => {
    const [method, branch] = [how(), into()?.trim()];
    return {
      ...(method !== undefined && { how: method }),
      ...(branch !== undefined && branch !== "" && { into: branch }),
    };
  };
  const gateOption = (): MergeChoice => {
    if (gate() === "configured") return {};
    return { gate: gate() === "none" ? false : command().trim() };
  };
  const predicting = createReading(() => predictMerge(client, id, target()));
  const prediction = predicting.value;
  const configuredGate = createReading(async () => ({ command: await readConfiguredGate(client, task().repository) }));
  void configuredGate.read();
  const formatConfiguredGate = (): string => {
    const known = configuredGate.value();
    return known === undefined ? "As configured" : `Default: ${visible(known.command ?? "none")}`;
  };
  const predict = (): void => {
    setResult(undefined);
    void predicting.read();
  };
  const merge = createAction(async () => {
    setResult(undefined);
    setStartSeq(log.state()?.head ?? 0);
    setResult(await mergeTask(client, id, { ...target(), ...gateOption() }));
  });
  createEffect(on([how, isEnded], predict));
  const gateRun = () => runs().findLast(({ kind, seq }) => kind === "gate" && seq > (startSeq() ?? Infinity));
  const canMerge = (): boolean =>
    isEnded() && prediction()?.outcome === "merged" && !predicting.isRunning() && predicting.error() === undefined;
  return (
    <Dialog title={`Merge ${visible(task().title)}`} onClose={() => props.onClose()}>
      {(close) => (
        <form
          class="merge"
          onSubmit={(event) => {
            event.preventDefault();
            if (canMerge()) void merge.run();
            else predict();
          }}
        >
          <fieldset disabled={merge.isRunning()}>
            <legend>Method</legend>
            <For each={MERGE_METHODS}>
              {(method) => (
                <label class="choice">
                  <input
                    type="radio"
                    name="how"
                    checked={(how() ?? prediction()?.how) === method}
                    onChange={() => setHow(method)}
                  />
                  {METHODS[method]}
                </label>
              )}
            </For>
          </fieldset>
          <div class="fields">
            <label>
              <span>Into branch</span>
              <input
                value={into() ?? prediction()?.into ?? ""}
                disabled={merge.isRunning()}
                autocomplete="off"
                spellcheck={false}
                onInput={({ currentTarget }) => setInto(currentTarget.value)}
                onChange={predict}
              />
            </label>
            <label>
              <span>Gate</span>
              <select
                disabled={merge.isRunning()}
                onChange={({ currentTarget }) => setGate(currentTarget.value as GateChoice)}
              >
                <option value="configured">{formatConfiguredGate()}</option>
                <option value="none">None</option>
                <option value="command">A command…</option>
              </select>
            </label>
          </div>
          <Show when={gate() === "command"}>
            <label class="merge-field">
              <span>Command that must pass on the merged result</span>
              <input
                class="mono"
                required
                value={command()}
                disabled={merge.isRunning()}
                onInput={({ currentTarget }) => setCommand(currentTarget.value)}
              />
            </label>
          </Show>
          <div class="merge-report" aria-live="polite">
            <Show when={predicting.isRunning()}>
              <p class="muted">Checking how it would merge…</p>
            </Show>
            <Show when={predicting.error() ?? merge.error()}>
              {(error) => (
                <p class="bad" role="alert">
                  {visible(error())}
                </p>
              )}
            </Show>
            <Show when={result() ?? (predicting.error() === undefined && !predicting.isRunning() && prediction())}>
              {(report) => <MergeResult report={report()} onSent={close} />}
            </Show>
            <Show when={!isEnded()}>
              <p class="muted">
                The task is {task().status}. It can be merged when it has ended, or after you stop it.
              </p>
            </Show>
          </div>
          <Show when={gateRun()}>
            {(run) => (
              <section aria-label="Gate">
                <p class="small">
                  Gate {run().status}: <code>{visible(run().command ?? "")}</code>
                </p>
                <Output run={run()} />
              </section>
            )}
          </Show>
          <div class="actions">
            <button class="primary" disabled={merge.isRunning() || !canMerge() || result()?.outcome === "merged"}>
              {merge.isRunning() ? "Merging…" : "Merge"}
            </button>
            <button type="button" onClick={close}>
              {result() === undefined ? "Cancel" : "Close"}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
