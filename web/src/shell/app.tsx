/** The frame around every screen: navigation, and a banner while the page is disconnected. */
import { ErrorBoundary, Match, Show, Suspense, Switch, type JSX } from "solid-js";
import { connectClient } from "../client.ts";
import { openFeed } from "../feed/feed.ts";
import { openRoster } from "../roster/model.ts";
import { Roster } from "../roster/roster.tsx";
import { currentRoute, type Route } from "../routes.ts";
import { ServerContext } from "../server.tsx";
import { Navigation } from "./navigation.tsx";

interface AppProps {
  readonly pageKey: string;
  onSignedOut(): void;
}

const screenOf = <S extends Route["screen"]>(screen: S): Extract<Route, { screen: S }> | false => {
  const route = currentRoute();
  return route.screen === screen && (route as Extract<Route, { screen: S }>);
};

export function App(props: AppProps): JSX.Element {
  const client = connectClient(props.pageKey);
  const feed = openFeed(props.pageKey);
  const roster = openRoster(client, feed);
  return (
    <ServerContext.Provider value={{ client, feed, roster }}>
      <Navigation />
      <div class="screen">
        <ConnectionBanner />
        <ErrorBoundary fallback={(error: unknown) => <p role="alert">{String(error)}</p>}>
          <Suspense>
            <Switch>
              <Match when={screenOf("roster")}>
                <Roster />
              </Match>
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </div>
    </ServerContext.Provider>
  );

  function ConnectionBanner(): JSX.Element {
    return (
      <Show when={feed.status().state !== "connected"}>
        <Switch>
          <Match when={feed.status().state === "signed_out"}>
            <p class="banner" role="alert">
              The server does not know this browser. <button onClick={() => props.onSignedOut()}>Sign in again</button>
            </p>
          </Match>
          <Match when={feed.status().state === "disconnected"}>
            <p class="banner" role="status">
              Disconnected from the server. What you see is not current. Trying again…
            </p>
          </Match>
        </Switch>
      </Show>
    );
  }
}
