/** Says how to sign in. */
import { Show, type JSX } from "solid-js";

export function SignedOut(props: { readonly isBadLink: boolean }): JSX.Element {
  return (
    <main class="signed-out">
      <h1>Rookery</h1>
      <Show when={props.isBadLink} fallback={<p>This browser is not signed in.</p>}>
        <p>This link was used before, or it is older than a minute.</p>
      </Show>
      <p>On the machine where the server runs, type</p>
      <pre>
        <code>rookery open</code>
      </pre>
      <p>and open the link that it prints. It signs this browser in for 30 days.</p>
    </main>
  );
}
