/** A line that opens to more. The content exists only while it is open. */
import { createUniqueId, Show, type JSX } from "solid-js";

export interface FoldState {
  readonly isOpen: boolean;
  onToggle(isOpen: boolean): void;
}

interface FoldProps extends FoldState {
  readonly class?: string;
  readonly summary: JSX.Element;
  readonly children: JSX.Element;
}

export function Fold(props: FoldProps): JSX.Element {
  const id = createUniqueId();
  return (
    <div class={`fold ${props.class ?? ""}`}>
      <button
        class="fold-line"
        aria-expanded={props.isOpen}
        aria-controls={props.isOpen ? id : undefined}
        onClick={() => props.onToggle(!props.isOpen)}
      >
        <span class="fold-mark" aria-hidden="true">
          {props.isOpen ? "▾" : "▸"}
        </span>
        {props.summary}
      </button>
      <Show when={props.isOpen}>
        <div class="fold-content" id={id}>
          {props.children}
        </div>
      </Show>
    </div>
  );
}
