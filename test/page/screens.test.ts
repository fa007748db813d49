// own process: starts a browser
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId, type EventDraft } from "../../src/domain/index.ts";
import { openHttp, type HttpScene } from "../../src/server/http/test-scene.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findViolations } from "./accessibility.ts";
import { findBrowser, startBrowser } from "./browser.ts";

const found = await findBrowser();
const stamp = { at: new Date().toISOString(), agent: "claude" };

const EVENTS: EventDraft[] = [
  { ...stamp, type: "session.opened", backend: "api", cwd: "/work", permissions: "ask", title: "Fix the \u202elogin" },
  { ...stamp, turnId: "trn_1", type: "turn.started", input: [{ type: "text", text: "fix it" }] },
  {
    ...stamp,
    turnId: "trn_1",
    type: "usage.reported",
    model: "claude-sonnet-5",
    inputTokens: 12_000,
    outputTokens: 800,
    costUsd: 0.05,
    costBy: "computed",
  },
  { ...stamp, turnId: "trn_1", type: "turn.ended", outcome: { status: "failed", code: "x", message: "no luck" } },
];

describe.skipIf("missing" in found)("a screen", () => {
  const owned = new DisposeStack();
  let scene: HttpScene;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    scene = owned.use(await openHttp());
    await scene.rookery.store.append({ sessionId: newId("ses"), id: newId("app"), expectedHead: 0, events: EVENTS });
    browser = await startBrowser(owned.use(await temporaryFolder()).path);
    owned.defer(() => browser.close());
    page = await (await browser.newContext()).newPage();
    await page.goto(scene.server.makeSignInLink().url);
    await page.locator("h1").waitFor();
  });
  afterAll(() => owned[Symbol.asyncDispose]());

  it.each([
    ["/", "Roster", "Fix the «U+202E»login"],
    ["/board", "Board", "Fix the «U+202E»login"],
    ["/inbox", "Inbox", "Nothing waits for an answer."],
    ["/activity", "Activity", "failed: no luck"],
    ["/usage", "Usage", "12.8k"],
    ["/agents", "Agents and servers", "No MCP server is declared here."],
  ])("%s shows its content, and is accessible in light and dark, wide and narrow", async (path, title, content) => {
    await page.goto(`${scene.server.url}${path}`);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await page.getByText(content).first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        expect([width, colorScheme, await findViolations(page)]).toEqual([width, colorScheme, []]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([width, overflow <= 0]).toEqual([width, true]);
      }
    }
  });
});
