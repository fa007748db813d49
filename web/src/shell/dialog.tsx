/** A modal dialog. The browser keeps the focus inside, closes it with Escape, and restores the focus afterwards. */
import { createUniqueId, onCleanup, onMount, type JSX } from "solid-js";
import "../styles/dialog.css";

interface DialogProps {
  readonly title: string;
  readonly children: (close: () => void) => JSX.Element;
  /** Removes the dialog. */
  onClose(): void;
}

export function Dialog(props: DialogProps): JSX.Element {
  let dialog: HTMLDialogElement | undefined;
  let isShown = true;
  const title = createUniqueId();
  /** Does nothing after the dialog was removed: the event comes late, and another dialog may be open by then. */
  const close = (): void => {
    if (isShown) props.onClose();
  };
  onMount(() => dialog?.showModal());
  onCleanup(() => {
    isShown = false;
    dialog?.close(); // restores the focus
  });
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={title} onClose={close}>
      <header>
        <h2 id={title}>{props.title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      {props.children(close)}
    </dialog>
  );
}
