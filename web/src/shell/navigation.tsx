/** The navigation between the screens, with the number of tasks and sessions that wait for a person. */
import { For, Show, type JSX } from "solid-js";
import { useServer } from "../server.tsx";
import type { Route } from "../routes.ts";
import { countWaiting } from "./attention.ts";
import { Link } from "./link.tsx";
import { ThemeButton } from "./theme-button.tsx";

const SCREENS: readonly { readonly route: Route; readonly title: string }[] = [
  { route: { screen: "roster" }, title: "Roster" },
  { route: { screen: "board" }, title: "Board" },
  { route: { screen: "inbox" }, title: "Inbox" },
  { route: { screen: "activity" }, title: "Activity" },
  { route: { screen: "usage" }, title: "Usage" },
  { route: { screen: "agents" }, title: "Agents" },
];

export function Navigation(): JSX.Element {
  const { roster } = useServer();
  const waiting = countWaiting(roster);
  return (
    <nav class="navigation" aria-label="Screens">
      <span class="brand">Rookery</span>
      <ul>
        <For each={SCREENS}>
          {({ route, title }) => (
            <li>
              <Link to={route}>
                {title}
                <Show when={route.screen === "inbox" && waiting() > 0}>
                  <span class="count" aria-label={`${waiting()} waiting`}>
                    {waiting()}
                  </span>
                </Show>
              </Link>
            </li>
          )}
        </For>
      </ul>
      <div class="end">
        <ThemeButton />
      </div>
    </nav>
  );
}
