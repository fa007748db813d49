/**
 * The navigation between the screens, with the number of tasks and sessions that wait for a person. On a narrow screen
 * it is a bar at the bottom, and More opens what has no room in it.
 */
import { For, Show, type JSX } from "solid-js";
import { useServer } from "../server.tsx";
import { currentRoute, type Route } from "../routes.ts";
import { countWaiting } from "./attention.ts";
import { Link } from "./link.tsx";
import { applyTheme, currentTheme, nextTheme, switchTheme } from "./theme.ts";

interface ScreenLink {
  readonly route: Route;
  readonly title: string;
}

const SCREENS: readonly ScreenLink[] = [
  { route: { screen: "roster" }, title: "Roster" },
  { route: { screen: "board" }, title: "Board" },
  { route: { screen: "inbox" }, title: "Inbox" },
  { route: { screen: "activity" }, title: "Activity" },
];
/** Under More on a narrow screen. */
const MORE_SCREENS: readonly ScreenLink[] = [
  { route: { screen: "usage" }, title: "Usage" },
  { route: { screen: "agents" }, title: "Agents" },
];

export function Navigation(props: { onHelp(): void }): JSX.Element {
  applyTheme();
  return (
    <nav class="navigation" aria-label="Screens">
      <span class="brand">Rookery</span>
      <ul>
        <For each={SCREENS}>{(screen) => <ScreenItem {...screen} />}</For>
        <For each={MORE_SCREENS}>{(screen) => <ScreenItem {...screen} isWideOnly />}</For>
        <li class="narrow-only">
          <MoreMenu onHelp={() => props.onHelp()} />
        </li>
      </ul>
      <div class="end">
        <ThemeButton />
        <HelpButton onHelp={() => props.onHelp()} />
      </div>
    </nav>
  );
}

function ScreenItem(props: ScreenLink & { readonly isWideOnly?: boolean }): JSX.Element {
  const { roster } = useServer();
  const waiting = countWaiting(roster);
  return (
    <li classList={{ "wide-only": props.isWideOnly === true }}>
      <Link to={props.route}>
        {props.title}
        <Show when={props.route.screen === "inbox" && waiting() > 0}>
          <span class="count" aria-label={`${waiting()} waiting`}>
            {waiting()}
          </span>
        </Show>
      </Link>
    </li>
  );
}

function MoreMenu(props: { onHelp(): void }): JSX.Element {
  let menu: HTMLDivElement | undefined;
  const close = (): void => menu?.hidePopover();
  const isCurrent = (): boolean => MORE_SCREENS.some(({ route }) => route.screen === currentRoute().screen);
  return (
    <>
      <button class="more-button" classList={{ current: isCurrent() }} popovertarget="more-menu">
        More
      </button>
      <div ref={menu} id="more-menu" class="more-menu" popover="auto" role="group" aria-label="More">
        <ul onClick={close}>
          <For each={MORE_SCREENS}>{(screen) => <ScreenItem {...screen} />}</For>
        </ul>
        <ThemeButton />
        <HelpButton
          onHelp={() => {
            close();
            props.onHelp();
          }}
        />
      </div>
    </>
  );
}

function ThemeButton(): JSX.Element {
  return (
    <button class="plain small" onClick={switchTheme} title={`Use the ${nextTheme()} theme`}>
      Theme: {currentTheme()}
    </button>
  );
}

function HelpButton(props: { onHelp(): void }): JSX.Element {
  return (
    <button class="plain small" onClick={() => props.onHelp()} title="Show the keys">
      Keys <kbd class="key-hint">?</kbd>
    </button>
  );
}
