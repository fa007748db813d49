/** A button that opens a menu with the actions that have no room beside it. */
import { createUniqueId, type JSX } from "solid-js";

const DISTANCE = 4;

export function ActionMenu(props: { readonly children: JSX.Element }): JSX.Element {
  let button: HTMLButtonElement | undefined;
  let menu: HTMLDivElement | undefined;
  const id = createUniqueId();
  /** A popover is placed in the document, not beside its button. */
  const place = (): void => {
    if (button === undefined || menu === undefined) return;
    const { bottom, right } = button.getBoundingClientRect();
    menu.style.top = `${bottom + scrollY + DISTANCE}px`;
    menu.style.right = `${document.documentElement.clientWidth - right}px`;
  };
  return (
    <>
      <button ref={button} type="button" class="menu-button" popovertarget={id} aria-label="More actions">
        ⋯
      </button>
      <div
        ref={menu}
        id={id}
        class="action-menu"
        popover="auto"
        role="group"
        aria-label="More actions"
        on:beforetoggle={place}
        onClick={() => menu?.hidePopover()}
      >
        {props.children}
      </div>
    </>
  );
}
