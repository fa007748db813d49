/** A dialog with all keys of the page. */
import { For, type JSX } from "solid-js";
import { Dialog } from "../shell/dialog.tsx";
import "../styles/help.css";
import type { Shortcut } from "./shortcuts.ts";

interface KeyGroup {
  readonly title: string;
  readonly keys: readonly Pick<Shortcut, "keys" | "does">[];
}

/** Keys that belong to one part of the page, which handles them itself. */
const GROUPS: readonly KeyGroup[] = [
  {
    title: "On a request",
    keys: [
      { keys: "y", does: "Allow" },
      { keys: "a", does: "Allow for the session" },
      { keys: "A", does: "Allow every call of the tool, even if a allows only commands with a prefix" },
      { keys: "n", does: "Deny" },
      { keys: "e", does: "Give a reason (in the inbox)" },
    ],
  },
  {
    title: "In the changes of a task",
    keys: [
      { keys: "j", does: "Next line" },
      { keys: "k", does: "Previous line" },
      { keys: "n", does: "Next file" },
      { keys: "p", does: "Previous file" },
      { keys: "c", does: "Comment on the line" },
    ],
  },
  {
    title: "In the message box",
    keys: [
      { keys: "Enter", does: "Send, or steer the agent while it works" },
      { keys: "Alt Enter", does: "Send after this turn" },
      { keys: "Shift Enter", does: "New line" },
      { keys: "Escape", does: "Cancel the turn" },
    ],
  },
];

export function KeyHelp(props: { readonly shortcuts: readonly Shortcut[]; onClose(): void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={() => props.onClose()}>
      {() => (
        <div class="help">
          <For each={[{ title: "On every screen", keys: props.shortcuts }, ...GROUPS]}>
            {({ title, keys }) => (
              <section>
                <h3>{title}</h3>
                <dl>
                  <For each={keys}>
                    {(each) => (
                      <div>
                        <dt>
                          <For each={each.keys.split(" ")}>{(key) => <kbd>{key}</kbd>}</For>
                        </dt>
                        <dd>{each.does}</dd>
                      </div>
                    )}
                  </For>
                </dl>
              </section>
            )}
          </For>
        </div>
      )}
    </Dialog>
  );
}
