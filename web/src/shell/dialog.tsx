/** A modal dialog. The browser keeps the focus inside, closes it with Escape, and restores the focus afterwards. */
import { createUniqueId, onMount, type JSX } from "solid-js";
import "../styles/dialog.css";

interface DialogProps {
  readonly title: string;
  readonly children: (close: () => void) => JSX.Element;
  onClose(): void;
}

export function Dialog(props: DialogProps): JSX.Element {
  let dialog: HTMLDialogElement | undefined;
  const title = createUniqueId();
  const close = (): void => dialog?.close();
  onMount(() => dialog?.showModal());
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={title} onClose={() => props.onClose()}>
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
