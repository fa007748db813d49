/** An error message that screen readers announce. */
import { Show, type JSX } from "solid-js";

export function Problem(props: { readonly text: string | undefined }): JSX.Element {
  return (
    <Show when={props.text}>
      {(text) => (
        <p class="bad wide" role="alert">
          {text()}
        </p>
      )}
    </Show>
  );
}
