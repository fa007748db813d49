/**
 * How the page asks for attention while it is out of sight: the title of the tab, the badge of the app, and
 * notifications.
 */
import { createEffect, createMemo, createSignal, onCleanup, type Accessor } from "solid-js";
import type { EventOf, SessionEvent } from "../../../src/domain/events.ts";
import type { FeedEvent } from "../../../src/client/index.ts";
import type { Feed } from "../feed/feed.ts";
import { visible } from "../format.ts";
import { navigate } from "../routes.ts";
import type { RosterModel } from "../roster/model.ts";

type Request = EventOf<"permission.requested"> | EventOf<"question.asked">;

const STORAGE_NAME = "rookery-notifications";
/** The permission rules answer most requests at once. Only those that still wait after this time are for a person. */
const SETTLE_MS = 700;
const MAX_OPEN = 20;
const NOT_ALLOWED =
  "The browser blocks notifications from this page. Allow them for this address in the browser's settings, then try again.";

/** The number of sessions that wait for a person. */
export function countWaiting(roster: RosterModel): Accessor<number> {
  return createMemo(() => Object.values(roster.sessions).filter((session) => session.status === "waiting").length);
}

/** Shows the number on the icon of the installed app, if the browser can. */
export function showBadge(waiting: Accessor<number>): void {
  createEffect(() => {
    const count = waiting();
    void (count === 0 ? navigator.clearAppBadge?.() : navigator.setAppBadge?.(count))?.catch(() => undefined);
  });
}

export interface NotificationChoice {
  readonly isOn: Accessor<boolean>;
  /** Why it cannot be switched on. */
  readonly problem: Accessor<string | undefined>;
  /** Asks the browser for its permission when it is switched on. Remembered in this browser. */
  toggle(): Promise<void>;
}

const [isOn, setOn] = createSignal(localStorage.getItem(STORAGE_NAME) === "on");
const [problem, setProblem] = createSignal<string>();

export const notificationChoice: NotificationChoice = {
  isOn,
  problem,
  async toggle() {
    setProblem(undefined);
    if (!isOn()) {
      if (typeof Notification === "undefined") return void setProblem("This browser has no notifications.");
      const permission = await Notification.requestPermission();
      if (permission !== "granted") return void setProblem(NOT_ALLOWED);
    }
    setOn(!isOn());
    localStorage.setItem(STORAGE_NAME, isOn() ? "on" : "off");
  },
};

/** Notifies about requests that wait, while no page of this browser is in front. A click opens the request. */
export function notifyOfRequests(feed: Feed, roster: RosterModel): void {
  const open = new Map<string, Notification>();
  const isWaiting = ({ sessionId, requestId }: Request): boolean =>
    roster.sessions[sessionId]?.waitingFor.includes(requestId) === true;

  const show = (request: Request): void => {
    const isInFront = document.visibilityState === "visible" && document.hasFocus();
    if (!isOn() || Notification.permission !== "granted" || isInFront || !isWaiting(request)) return;
    const { sessionId, requestId, seq } = request;
    const tag = `${sessionId} ${requestId}`; // another tab with the same tag replaces the notification
    const text = request.type === "permission.requested" ? request.title : request.message;
    const title = roster.sessions[sessionId]?.title ?? "A session";
    try {
      const notification = new Notification(`${visible(title.slice(0, 100))} needs you`, {
        body: visible(text.slice(0, 200)),
        icon: "/icon-192.png",
        tag,
      });
      notification.onclick = () => {
        window.focus();
        navigate({ screen: "session", id: sessionId, seq });
        notification.close();
      };
      if (open.size < MAX_OPEN) open.set(tag, notification);
    } catch {
      setProblem("This browser does not show notifications from web pages."); // Chrome on Android
    }
  };
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const listen = (events: readonly FeedEvent[]): void => {
    for (const { event } of events) {
      if (!isRequest(event as SessionEvent)) continue;
      const timer = setTimeout(() => {
        timers.delete(timer);
        show(event as Request);
      }, SETTLE_MS);
      timers.add(timer);
    }
  };
  onCleanup(feed.listen(listen));
  onCleanup(() => timers.forEach((timer) => clearTimeout(timer)));
  // An answer from elsewhere removes the notification.
  createEffect(() => {
    const sessions = Object.values(roster.sessions);
    const waiting = new Set(sessions.flatMap(({ id, waitingFor }) => waitingFor.map((each) => `${id} ${each}`)));
    for (const [tag, notification] of open) {
      if (waiting.has(tag)) continue;
      notification.close();
      open.delete(tag);
    }
  });
}

function isRequest(event: SessionEvent): event is Request {
  return event.type === "permission.requested" || event.type === "question.asked";
}
