/** The frame around every screen: navigation, keys, and a banner while the page is disconnected. */
import { createEffect, createSignal, ErrorBoundary, Match, Show, Suspense, Switch, type JSX } from "solid-js";
import { connectClient } from "../client.ts";
import { openFeed } from "../feed/feed.ts";
import { listenForShortcuts, moveFocus, type Shortcut } from "../keys/shortcuts.ts";
import { removeInputOfDeleted } from "../kept-input.ts";
import { messageOf } from "../request.ts";
import { openRoster } from "../roster/model.ts";
import { Roster } from "../roster/roster.tsx";
import { currentRoute, navigate, type Route } from "../routes.ts";
import { ServerContext } from "../server.tsx";
import { countWaiting, notifyOfRequests, showBadge } from "./attention.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { lazyScreen } from "./lazy-screen.ts";
import { Navigation } from "./navigation.tsx";

const Board = lazyScreen(async () => (await import("../roster/board.tsx")).Board);
const Inbox = lazyScreen(async () => (await import("../inbox/inbox.tsx")).Inbox);
const Usage = lazyScreen(async () => (await import("../usage/usage.tsx")).Usage);
const Agents = lazyScreen(async () => (await import("../agents/agents.tsx")).Agents);
const Activity = lazyScreen(async () => (await import("../activity/activity.tsx")).Activity);
const Dispatch = lazyScreen(async () => (await import("../dispatch/dispatch.tsx")).Dispatch);
const TaskScreen = lazyScreen(async () => (await import("../task/task.tsx")).TaskScreen);
const KeyHelp = lazyScreen(async () => (await import("../keys/help.tsx")).KeyHelp);
const Session = lazyScreen(async () => (await import("../session/session.tsx")).Session);

interface AppProps {
  readonly pageKey: string;
  onSignedOut(): void;
}

const TITLES: Readonly<Record<Route["screen"], string>> = {
  roster: "Roster",
  board: "Board",
  inbox: "Inbox",
  usage: "Usage",
  agents: "Agents",
  activity: "Activity",
  session: "Session",
  task: "Task",
};

const sessionId = (): string | false => {
  const route = currentRoute();
  return route.screen === "session" && route.id;
};
const sessionSeq = (): number | undefined => {
  const route = currentRoute();
  return route.screen === "session" ? route.seq : undefined;
};
/** What `j` and `k` move between: rows of lists, and the first button of requests. */
const ROWS = "a.row, .request-card button.primary";

const isScreen = (screen: Route["screen"]): boolean => currentRoute().screen === screen;
const taskRoute = (): Extract<Route, { screen: "task" }> | undefined => {
  const route = currentRoute();
  return route.screen === "task" ? route : undefined;
};

export function App(props: AppProps): JSX.Element {
  const client = connectClient(props.pageKey);
  const feed = openFeed(props.pageKey);
  const roster = openRoster(client, feed);
  const waiting = countWaiting(roster);
  const [isDispatching, setDispatching] = createSignal(false);
  const [isHelping, setHelping] = createSignal(false);
  const newTask = (): void => void setDispatching(true);
  const showHelp = (): void => void setHelping(true);
  const shortcuts: readonly Shortcut[] = [
    { keys: "n", does: "New task", run: newTask },
    { keys: "/", does: "Search", run: () => document.getElementById("search")?.focus() },
    { keys: "j", does: "Next row", run: () => moveFocus(ROWS, 1) },
    { keys: "k", does: "Previous row", run: () => moveFocus(ROWS, -1) },
    { keys: "g r", does: "Go to the roster", run: () => navigate({ screen: "roster" }) },
    { keys: "g b", does: "Go to the board", run: () => navigate({ screen: "board" }) },
    { keys: "g i", does: "Go to the inbox", run: () => navigate({ screen: "inbox" }) },
    { keys: "g a", does: "Go to the activity", run: () => navigate({ screen: "activity" }) },
    { keys: "?", does: "Show the keys", run: showHelp },
  ];
  listenForShortcuts(() => shortcuts);
  createEffect(() => {
    const count = waiting() === 0 ? "" : `(${waiting()}) `;
    document.title = `${count}${TITLES[currentRoute().screen]} · Rookery`;
  });
  showBadge(waiting);
  notifyOfRequests(feed, roster);
  removeInputOfDeleted(feed);
  return (
    <ServerContext.Provider value={{ client, feed, roster }}>
      <Navigation onHelp={showHelp} />
      <div class="screen">
        <ConnectionBanner onSignedOut={() => props.onSignedOut()} />
        <ErrorBoundary fallback={(error: unknown) => <p role="alert">{messageOf(error)}</p>}>
          <Suspense>
            <Switch>
              <Match when={isScreen("roster")}>
                <Roster onNewTask={newTask} />
              </Match>
              <Match when={isScreen("board")}>
                <Board onNewTask={newTask} />
              </Match>
              <Match when={isScreen("inbox")}>
                <Inbox />
              </Match>
              <Match when={isScreen("usage")}>
                <Usage />
              </Match>
              <Match when={isScreen("agents")}>
                <Agents />
              </Match>
              <Match when={isScreen("activity")}>
                <Activity />
              </Match>
              <Match when={sessionId()}>{(id) => <Session id={id()} seq={sessionSeq()} />}</Match>
              <Match when={taskRoute()}>{(route) => <TaskScreen id={route().id} tab={route().tab} />}</Match>
            </Switch>
          </Suspense>
        </ErrorBoundary>
        <Suspense>
          <Show when={isDispatching()}>
            <Dispatch onClose={() => setDispatching(false)} />
          </Show>
          <Show when={isHelping()}>
            <KeyHelp shortcuts={shortcuts} onClose={() => setHelping(false)} />
          </Show>
        </Suspense>
      </div>
    </ServerContext.Provider>
  );
}
