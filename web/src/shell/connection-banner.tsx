/** Says that what the page shows may be out of date, or that it must sign in again. */
import { Match, Switch, type JSX } from "solid-js";
import { useServer } from "../server.tsx";

export function ConnectionBanner(props: { onSignedOut(): void }): JSX.Element {
  const { feed } = useServer();
  return (
    <Switch>
      <Match when={feed.status().state === "signed_out"}>
        <p class="banner" role="alert">
          The server does not know this browser. <button onClick={() => props.onSignedOut()}>Sign in again</button>
        </p>
      </Match>
      <Match when={feed.status().state === "disconnected"}>
        <p class="banner" role="status">
          Disconnected from the server. What you see may be out of date. Trying again…
        </p>
      </Match>
    </Switch>
  );
}
