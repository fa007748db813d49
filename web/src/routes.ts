/** The screens of the page and their paths. `src/server/http/page/respond.ts` serves the page at these paths. */
import { createSignal } from "solid-js";

export type Route =
  | { readonly screen: "roster" | "board" | "inbox" | "usage" | "agents" | "activity" }
  /** `seq`: the event to show. Default: the end of the conversation. */
  | { readonly screen: "session"; readonly id: string; readonly seq?: number | undefined }
  | { readonly screen: "task"; readonly id: string; readonly tab: TaskTab };

export const TASK_TABS = ["conversation", "changes", "checks", "events"] as const;
export type TaskTab = (typeof TASK_TABS)[number];

const SIMPLE = ["board", "inbox", "usage", "agents", "activity"] as const;

/** `path` may end with the hash of an event, such as `#seq-12`. */
export function parsePath(path: string): Route {
  const [pathname = "", hash = ""] = path.split("#");
  const [, first = "", id = "", tab = ""] = pathname.split("/");
  const simple = SIMPLE.find((name) => name === first);
  if (simple !== undefined) return { screen: simple };
  const seq = /^seq-(\d{1,15})$/.exec(hash)?.[1];
  if (first === "session" && id !== "")
    return { screen: "session", id, seq: seq === undefined ? undefined : Number(seq) };
  if (first === "task" && id !== "") {
    return { screen: "task", id, tab: TASK_TABS.find((name) => name === tab) ?? "conversation" };
  }
  return { screen: "roster" };
}

export function formatPath(route: Route): string {
  if (route.screen === "roster") return "/";
  if (route.screen === "session") {
    return `/session/${route.id}${route.seq === undefined ? "" : `#seq-${route.seq}`}`;
  }
  if (route.screen === "task") return `/task/${route.id}${route.tab === "conversation" ? "" : `/${route.tab}`}`;
  return `/${route.screen}`;
}

const readPath = (): string => location.pathname + location.hash;
const [path, setPath] = createSignal(readPath());
addEventListener("popstate", () => setPath(readPath()));

export const currentRoute = (): Route => parsePath(path());

export function navigate(route: Route): void {
  const next = formatPath(route);
  if (next === path()) return;
  history.pushState(null, "", next);
  setPath(next);
  scrollTo(0, 0);
}
