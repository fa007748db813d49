/** Compares what the page shows with what the server has in its log. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { RookeryClient } from "../../../src/client/index.ts";
import type { SessionEvent, TaskView } from "../../../src/domain/index.ts";

const GROUPS: Readonly<Record<TaskView["status"], string>> = {
  waiting: "Needs you",
  preparing: "Working",
  running: "Working",
  parked: "Parked",
  queued: "Queued",
  done: "Done",
  failed: "Failed",
  stopped: "Failed",
};

/** Group, title, status, branch and last line of every task. */
export async function expectRoster(page: Page, client: RookeryClient): Promise<void> {
  await expect
    .poll(async () => ({ shown: await readRoster(page), logged: await listTasks(client) }))
    .toSatisfy(({ shown, logged }: { shown: unknown; logged: unknown }) => isEqual(shown, logged));
}

async function readRoster(page: Page): Promise<readonly string[]> {
  const rows = await page
    .getByRole("main")
    .getByRole("region")
    .evaluateAll((regions) =>
      regions.flatMap((region) => {
        const group = region.querySelector("h2")?.firstChild?.textContent?.trim() ?? "";
        return Array.from(region.querySelectorAll<HTMLElement>("a"), (row) => {
          const [title, status, facts = "", , last = ""] = row.innerText.split("\n").filter((line) => line !== "");
          return [group, title, status, facts.split(/\s· /)[2] ?? "", last].join(" | ");
        });
      }),
    );
  return rows.sort();
}

async function listTasks(client: RookeryClient): Promise<readonly string[]> {
  const { data } = await client.GET("/v1/tasks");
  const rows = (data?.tasks ?? []).map((task) => {
    const status = task.merge?.outcome === "merged" ? "merged" : task.status;
    const last = task.lastLine ?? task.message ?? "";
    return [GROUPS[task.status], task.title, status, task.worktree?.branch ?? "", last].join(" | ");
  });
  return rows.sort();
}

/** The ids of all open requests, sorted. */
export async function listRequests(client: RookeryClient): Promise<readonly string[]> {
  const { data } = await client.GET("/v1/requests");
  return (data?.requests ?? []).map(({ requestId }) => requestId).sort();
}

/** Waits until the agents have asked again after a kill. Then the inbox has these requests and none from before. */
export async function expectRepeatedRequests(
  page: Page,
  client: RookeryClient,
  before: readonly string[],
): Promise<void> {
  await expect
    .poll(async () => ({ shown: await readRequests(page), logged: await listRequests(client) }))
    .toSatisfy(({ shown, logged }: { shown: readonly string[]; logged: readonly string[] }) => {
      return logged.length === before.length && !logged.some((id) => before.includes(id)) && isEqual(shown, logged);
    });
}

async function readRequests(page: Page): Promise<readonly string[]> {
  const cards = page.getByRole("main").locator("[data-request]");
  return (await cards.evaluateAll((all) => all.map((card) => card.getAttribute("data-request") ?? ""))).sort();
}

interface Line {
  readonly kind: string;
  readonly text: string;
}

/** Every prompt, message, tool, request, notice and end of a turn, in order, once. */
export async function expectTranscript(page: Page, client: RookeryClient, sessionId: string): Promise<void> {
  await expect
    .poll(async () => ({ shown: await readTranscript(page), logged: await listLines(client, sessionId) }))
    .toSatisfy(({ shown, logged }: { shown: readonly Line[]; logged: readonly Line[] }) => {
      const shownAs = shown.map(({ kind, text }, index) => {
        const wanted = logged[index]?.text ?? "";
        return { kind, text: text.includes(wanted) ? wanted : text };
      });
      return isEqual(shownAs, logged);
    });
}

async function readTranscript(page: Page): Promise<readonly Line[]> {
  const rows = await page
    .getByRole("group", { name: "Transcript" })
    .locator("[data-kind]")
    .evaluateAll((found) =>
      (found as HTMLElement[]).map((row) => {
        const { top } = row.getBoundingClientRect();
        return { top, kind: row.dataset["kind"] ?? "", text: row.innerText.replaceAll(/\s+/g, " ") };
      }),
    );
  return rows.sort((a, b) => a.top - b.top).map(({ kind, text }) => ({ kind, text }));
}

async function listLines(client: RookeryClient, id: string): Promise<readonly Line[]> {
  const { data } = await client.GET("/v1/sessions/{id}/events", { params: { path: { id }, query: { limit: 5_000 } } });
  return (data?.events ?? []).flatMap((event) => toLine(event as SessionEvent) ?? []);
}

function toLine(event: SessionEvent): Line | undefined {
  const line = (kind: string, text: string): Line => ({ kind, text: text.replaceAll(/\s+/g, " ").trim() });
  switch (event.type) {
    case "turn.started":
      return line("prompt", event.input.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
    case "message.completed":
      return line("message", event.text);
    case "tool.started":
      return line("tool", event.title);
    case "permission.requested":
      return line("request", event.title);
    case "question.asked":
      return line("request", event.message);
    case "turn.continued":
      return line("notice", event.message ?? "");
    case "notice":
      return line("notice", event.message);
    case "turn.ended":
      return line("turn_end", event.outcome.status);
    default:
      return undefined;
  }
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
