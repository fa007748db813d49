// own process: starts a browser
/** Checks every screen, tab and dialog with axe-core, light and dark, with the content of a small fleet. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findViolations } from "./accessibility.ts";
import { findBrowser } from "./browser.ts";
import { openDemoScene, type DemoScene } from "./demo-scene.ts";

const found = await findBrowser();
const clickButton = (name: string) => (page: Page) => page.getByRole("button", { name }).first().click();

interface Place {
  readonly place: string;
  readonly path: string;
  readonly content: string;
  readonly open?: (page: Page) => Promise<void>;
}

const PLACES: readonly Place[] = [
  { place: "the roster", path: "/", content: "Keep jobs that are pushed" },
  {
    place: "search results",
    path: "/",
    content: "In the logs",
    open: (page) => page.getByRole("searchbox").fill("drain"),
  },
  {
    place: "a search without results",
    path: "/",
    content: "No message has all",
    open: (page) => page.getByRole("searchbox").fill("absent words"),
  },
  { place: "the form for a new task", path: "/", content: "What should the agent do?", open: clickButton("New task") },
  { place: "the list of keys", path: "/", content: "Show the keys", open: (page) => page.keyboard.press("?") },
  { place: "the board", path: "/board", content: "Keep jobs that are pushed" },
  { place: "the inbox", path: "/inbox", content: "Which release should the fix go to?" },
  { place: "a session", path: "/session/SESSION", content: "ten writers" },
  {
    place: "a session with open tools",
    path: "/session/SESSION",
    content: "1 failed",
    open: clickButton("Run npm test failed"),
  },
  { place: "a task", path: "/task/fix-drain", content: "push while draining" },
  { place: "the changes of a task", path: "/task/fix-drain/changes", content: "only after it is saved" },
  {
    place: "the changes side by side",
    path: "/task/fix-drain/changes",
    content: "only after it is saved",
    open: clickButton("Split"),
  },
  { place: "the checks of a task", path: "/task/fix-drain/checks", content: "passed" },
  { place: "the events of a task", path: "/task/fix-drain/events", content: "run 1" },
  {
    place: "the dialog that merges",
    path: "/task/fix-drain",
    content: "without conflicts",
    open: clickButton("Merge…"),
  },
  { place: "the dialog that removes", path: "/task/fix-drain", content: "Remove", open: clickButton("Remove…") },
  { place: "the form that resumes", path: "/task/fix-drain", content: "Resume", open: clickButton("Resume…") },
  { place: "a task that failed", path: "/task/new-store/checks", content: "failed" },
  { place: "a task that waits", path: "/task/publish", content: "Allow" },
  { place: "the activity", path: "/activity", content: "Publish version 1.4.0" },
  { place: "the usage", path: "/usage", content: "claude-sonnet-5" },
  { place: "the agents", path: "/agents", content: "files-server" },
];

describe.skipIf("missing" in found)("axe-core finds nothing wrong with", () => {
  let scene: DemoScene;
  beforeAll(async () => {
    scene = await openDemoScene();
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it.each(PLACES)("$place", async ({ path, content, open }) => {
    const page = await scene.open(path.replace("SESSION", scene.sessionId));
    await page.locator("main h1").waitFor();
    if (path === "/") await page.getByText("Keep jobs that are pushed").first().waitFor();
    await open?.(page);
    await page.getByText(content).last().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect([colorScheme, await findViolations(page)]).toEqual([colorScheme, []]);
    }
    await page.context().close();
  });
});
