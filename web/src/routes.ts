/** The screens of the page and their paths. `src/server/http/page/respond.ts` serves the page at these paths. */
import { createSignal } from "solid-js";

export type Route =
  | { readonly screen: "roster" | "board" | "inbox" | "usage" | "agents" | "activity" }
  | { readonly screen: "session"; readonly id: string }
  | { readonly screen: "task"; readonly id: string; readonly tab: TaskTab };

export const TASK_TABS = ["conversation", "changes", "checks", "events"] as const;
export type TaskTab = (typeof TASK_TABS)[number];

const SIMPLE = ["board", "inbox", "usage", "agents", "activity"] as const;

export function parsePath(path: string): Route {
  const [, first = "", id = "", tab = ""] = path.split("/");
  const simple = SIMPLE.find((name) => name === first);
  if (simple !== undefined) return { screen: simple };
  if (first === "session" && id !== "") return { screen: "session", id };
  if (first === "task" && id !== "") {
    return { screen: "task", id, tab: TASK_TABS.find((name) => name === tab) ?? "conversation" };
  }
  return { screen: "roster" };
}

export function formatPath(route: Route): string {
  if (route.screen === "roster") return "/";
  if (route.screen === "session") return `/session/${route.id}`;
  if (route.screen === "task") return `/task/${route.id}${route.tab === "conversation" ? "" : `/${route.tab}`}`;
  return `/${route.screen}`;
}

const [path, setPath] = createSignal(location.pathname);
addEventListener("popstate", () => setPath(location.pathname));

export const currentRoute = (): Route => parsePath(path());

export function navigate(route: Route): void {
  const next = formatPath(route);
  if (next === path()) return;
  history.pushState(null, "", next);
  setPath(next);
  scrollTo(0, 0);
}
