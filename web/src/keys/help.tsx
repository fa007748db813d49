/** A dialog with all keys of the page. */
import { For, onMount, type JSX } from "solid-js";
import "../styles/help.css";
import type { Shortcut } from "./shortcuts.ts";

export function KeyHelp(props: { readonly shortcuts: readonly Shortcut[]; onClose(): void }): JSX.Element {
  let dialog: HTMLDialogElement | undefined;
  onMount(() => dialog?.showModal());
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => props.onClose()}>
      <h2 id="help-title">Keys</h2>
      <dl>
        <For each={props.shortcuts}>
          {({ keys, does }) => (
            <div>
              <dt>
                <For each={keys.split(" ")}>{(key) => <kbd>{key}</kbd>}</For>
              </dt>
              <dd>{does}</dd>
            </div>
          )}
        </For>
      </dl>
      <button onClick={() => dialog?.close()}>Close</button>
    </dialog>
  );
}
