/** The tabs of a task are links, so that each has an address. */
import { For, Show, type JSX } from "solid-js";
import { TASK_TABS, type TaskTab } from "../routes.ts";
import { Link } from "../shell/link.tsx";
import { isCheck } from "./checks.tsx";
import { useTask } from "./task-context.tsx";

const TITLES: Readonly<Record<TaskTab, string>> = {
  conversation: "Conversation",
  changes: "Changes",
  checks: "Checks",
  events: "Events",
};

export function Tabs(): JSX.Element {
  const { id, runs } = useTask();
  const failedChecks = (): number => {
    const last = new Map(runs().filter(isCheck).map((run) => [run.name, run])); // prettier-ignore
    return [...last.values()].filter(({ status }) => status === "failed").length;
  };
  return (
    <nav class="tabs" aria-label="Task">
      <For each={TASK_TABS}>
        {(tab) => (
          <Link to={{ screen: "task", id, tab }}>
            {TITLES[tab]}
            <Show when={tab === "checks" && failedChecks() > 0}>
              <span class="count" aria-label={`${failedChecks()} failed`}>
                {failedChecks()}
              </span>
            </Show>
          </Link>
        )}
      </For>
    </nav>
  );
}
