/** The tasks that must be done before a new one starts. */
import { createMemo, For, Show, type JSX } from "solid-js";
import { isEndedStatus } from "../../../src/domain/enums.ts";
import type { TaskView } from "../../../src/domain/task/view.ts";
import { visible } from "../format.ts";
import { useServer } from "../server.tsx";

const MAX_LISTED = 100;

interface NeedsFieldProps {
  /** Undefined while it is unknown. */
  readonly repository: string | undefined;
  readonly needs: readonly string[];
  onChange(needs: readonly string[]): void;
}

export function NeedsField(props: NeedsFieldProps): JSX.Element {
  const { roster } = useServer();
  const choices = createMemo(() => listChoices(Object.values(roster.tasks), props.repository));
  const toggle = (id: string, isOn: boolean): void =>
    props.onChange(isOn ? [...props.needs, id] : props.needs.filter((each) => each !== id));
  return (
    <Show when={choices().length > 0}>
      <fieldset class="needs">
        <legend>Start after these tasks are done</legend>
        <ul>
          <For each={choices()}>
            {({ id, title, status }) => (
              <li>
                <label class="choice">
                  <input
                    type="checkbox"
                    checked={props.needs.includes(id)}
                    onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
                  />
                  <span class="title">{visible(title)}</span>
                  <span class="muted small">{status}</span>
                </label>
              </li>
            )}
          </For>
        </ul>
      </fieldset>
    </Show>
  );
}

/** Tasks that have not ended come first, then the newest. A task that failed would never let the new one start. */
function listChoices(tasks: readonly TaskView[], repository: string | undefined): readonly TaskView[] {
  const rank = ({ status }: TaskView): number => (isEndedStatus(status) ? 1 : 0);
  return tasks
    .filter((task) => task.repository === repository && task.status !== "failed")
    .sort((a, b) => rank(a) - rank(b) || (a.createdAt < b.createdAt ? 1 : -1))
    .slice(0, MAX_LISTED);
}
