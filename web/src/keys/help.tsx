/** A dialog with all keys of the page. */
import { For, type JSX } from "solid-js";
import { Dialog } from "../shell/dialog.tsx";
import "../styles/help.css";
import type { Shortcut } from "./shortcuts.ts";

export function KeyHelp(props: { readonly shortcuts: readonly Shortcut[]; onClose(): void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={() => props.onClose()}>
      {() => (
        <dl class="help">
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
      )}
    </Dialog>
  );
}
