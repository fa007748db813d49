/** The options of a new task that most tasks do not need. */
import type { JSX } from "solid-js";
import type { TaskFields } from "./fields.ts";
import { NeedsField } from "./needs-field.tsx";

interface MoreOptionsProps {
  readonly fields: TaskFields;
  /** The path of the repository. Undefined while it is unknown. */
  readonly repository: string | undefined;
  onChange(changed: Partial<TaskFields>): void;
}

export function MoreOptions(props: MoreOptionsProps): JSX.Element {
  return (
    <details class="wide">
      <summary>More</summary>
      <div class="more">
        <label>
          Task id
          <input
            placeholder="derived from the prompt"
            autocomplete="off"
            spellcheck={false}
            value={props.fields.id}
            onInput={({ currentTarget }) => props.onChange({ id: currentTarget.value })}
          />
        </label>
        <label>
          Base
          <input
            placeholder="the current commit"
            autocomplete="off"
            spellcheck={false}
            value={props.fields.base}
            onInput={({ currentTarget }) => props.onChange({ base: currentTarget.value })}
          />
        </label>
        <label>
          Budget in USD
          <input
            type="number"
            min="0.01"
            step="0.01"
            placeholder="no limit"
            value={props.fields.usd}
            onInput={({ currentTarget }) => props.onChange({ usd: currentTarget.value })}
          />
        </label>
      </div>
      <NeedsField
        repository={props.repository}
        needs={props.fields.needs}
        onChange={(needs) => props.onChange({ needs })}
      />
    </details>
  );
}
