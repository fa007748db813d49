/** The form that starts a task. */
import { createEffect, createMemo, createSignal, For, on, Show, type JSX } from "solid-js";
import { createStore } from "solid-js/store";
import "../styles/dispatch.css";
import type { components } from "../../../src/client/index.ts";
import { createAction } from "../action.ts";
import { readWhenConnected } from "../feed/read-when-connected.ts";
import { visible } from "../format.ts";
import { createReading } from "../reading.ts";
import { navigate } from "../routes.ts";
import { newIdempotencyKey, sendOnce } from "../send.ts";
import { Dialog } from "../shell/dialog.tsx";
import { Problem } from "../shell/problem.tsx";
import { useServer } from "../server.tsx";
import { emptyFields, PERMISSIONS, toStartRequest, type TaskFields } from "./fields.ts";
import { readFolderSetup } from "./folder-setup.ts";
import { MoreOptions } from "./more-options.tsx";

type Agent = components["schemas"]["Agent"];

export function Dispatch(props: { onClose(): void }): JSX.Element {
  const { client, feed, roster } = useServer();
  const [fields, setFields] = createStore(emptyFields(newestRepository()));
  /** The folder when the person left its field, so that half a path is not looked up. */
  const [chosenFolder, setChosenFolder] = createSignal(fields.folder);
  const setup = createReading((folder: string) => readFolderSetup(client, folder));
  createEffect(on(chosenFolder, (folder) => void setup.read(folder)));
  readWhenConnected(feed, {
    read: () => void setup.read(chosenFolder()),
    hasFailed: () => setup.error() !== undefined,
    isSnapshot: false,
  });
  const repositories = createMemo(() => [...new Set(Object.values(roster.tasks).map((task) => task.repository))]);
  const agents = () => setup.value()?.agents ?? [];
  const defaultAgent = createMemo(() => agents().find(({ isDefault }) => isDefault));
  const chosenAgent = createMemo(() =>
    fields.agent === "" ? defaultAgent() : agents().find(({ name }) => name === fields.agent),
  );
  const defaultPermissions = (): string => {
    const known = setup.value()?.permissions;
    const agent = chosenAgent();
    if (fields.pipeline !== "" || known === undefined || agent === undefined) return "default of the agent";
    return `default: ${PERMISSIONS[known.get(agent.name) ?? "ask"]}`;
  };
  const defaultFolder = (): string => {
    const root = chosenFolder() === "" ? setup.value()?.root : undefined;
    return root === undefined ? "the folder in which the server was started" : `default: ${visible(root)}`;
  };
  /** The same request is sent with the same key again, in case the first attempt took effect. */
  let sent: { readonly request: string; readonly key: string } | undefined;

  function newestRepository(): string {
    const tasks = Object.values(roster.tasks).sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    return tasks[0]?.repository ?? "";
  }

  const start = createAction(async () => {
    const body = toStartRequest(fields);
    const request = JSON.stringify(body);
    if (sent?.request !== request) sent = { request, key: newIdempotencyKey() };
    const task = await sendOnce(sent.key, (header) =>
      client.POST("/v1/tasks", { params: { header: { ...header } }, body }),
    );
    if (!("id" in task)) return; // `sendOnce` waits until the task is started
    props.onClose();
    navigate({ screen: "task", id: task.id, tab: "conversation" });
  });
  const canStart = (): boolean => !start.isRunning() && fields.prompt.trim() !== "";
  const submit = (event: Event): void => {
    event.preventDefault();
    if (canStart()) void start.run();
  };
  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
  };

  return (
    <Dialog title="New task" onClose={() => props.onClose()}>
      {(close) => (
        <form class="dispatch" onSubmit={submit} onKeyDown={sendByKey}>
          <label class="wide">
            What should the agent do?
            <textarea
              required
              autofocus
              rows={6}
              value={fields.prompt}
              onInput={({ currentTarget }) => setFields({ prompt: currentTarget.value })}
            />
          </label>
          <label class="wide">
            Repository
            <input
              list="known-repositories"
              placeholder={defaultFolder()}
              value={fields.folder}
              onInput={({ currentTarget }) => setFields({ folder: currentTarget.value })}
              onChange={() => setChosenFolder(fields.folder.trim())}
            />
            <datalist id="known-repositories">
              <For each={repositories()}>{(path) => <option value={path} />}</For>
            </datalist>
          </label>
          <Show when={(setup.value()?.pipelines.length ?? 0) > 0}>
            <label class="wide">
              Pipeline
              <select
                value={fields.pipeline}
                onChange={({ currentTarget }) => setFields({ pipeline: currentTarget.value })}
              >
                <option value="">none: a single agent</option>
                <For each={setup.value()?.pipelines}>{(name) => <option value={name}>{visible(name)}</option>}</For>
              </select>
            </label>
          </Show>
          <label>
            Agent
            <select
              value={fields.agent}
              disabled={fields.pipeline !== ""}
              onChange={({ currentTarget }) => setFields({ agent: currentTarget.value })}
            >
              <option value="">{fields.pipeline === "" ? nameDefault(defaultAgent()) : "set by the pipeline"}</option>
              <For each={agents()}>{(each) => <option value={each.name}>{nameWithReadiness(each)}</option>}</For>
            </select>
          </label>
          <label>
            Permissions
            <select
              value={fields.permissions}
              onChange={({ currentTarget }) =>
                setFields({ permissions: currentTarget.value as TaskFields["permissions"] })
              }
            >
              <option value="">{defaultPermissions()}</option>
              <For each={Object.entries(PERMISSIONS)}>{([value, title]) => <option value={value}>{title}</option>}</For>
            </select>
          </label>
          <MoreOptions fields={fields} repository={setup.value()?.root} onChange={(changed) => setFields(changed)} />
          <Show when={fields.pipeline === "" && chosenAgent()?.ready === false}>
            <p class="wide warn small">{chosenAgent()?.missing ?? "This agent is not ready."}</p>
          </Show>
          <Show when={setup.error()}>{(text) => <p class="wide bad small">{text()}</p>}</Show>
          <Problem text={start.error()} />
          <div class="wide buttons">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={!canStart()}>
              {start.isRunning() ? "Starting…" : "Start task"}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function nameDefault(agent: Agent | undefined): string {
  return agent === undefined ? "the default agent" : `default: ${nameWithReadiness(agent)}`;
}

function nameWithReadiness({ name, ready }: Agent): string {
  return ready ? visible(name) : `${visible(name)} (not ready)`;
}
