// own process: starts a browser
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId, type EventDraft, type TaskEventDraft } from "../../src/domain/index.ts";
import { openHttp, type HttpScene } from "../../src/server/http/test-scene.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findViolations } from "./accessibility.ts";
import { findBrowser, startBrowser } from "./browser.ts";

const found = await findBrowser();
const stamp = { at: new Date().toISOString(), agent: "claude" };

const STAGE = { kind: "agent", name: "work", agent: "claude", tries: 1 } as const;

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
    scene = owned.use(await openHttp([], { times: { deletions: 50 } }));
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
    ["/inbox", "Inbox", "Nothing is waiting for an answer."],
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

  it("has the theme, the keys and all screens within reach of a thumb on a phone", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const phone = await context.newPage();
    await phone.goto(scene.server.makeSignInLink().url);
    const navigation = phone.getByRole("navigation");
    const more = navigation.getByRole("button", { name: "More" });
    await more.tap();
    const menu = phone.getByRole("group", { name: "More" });
    const targets = [...(await navigation.getByRole("link").all()), ...(await navigation.getByRole("button").all())];
    expect(targets).toHaveLength(9); // 4 screens and More; 2 screens, the theme and the keys in it
    for (const target of targets) {
      const { width = 0, height = 0 } = (await target.boundingBox()) ?? {};
      expect([await target.innerText(), Math.min(width, height) >= 44]).toEqual([expect.anything(), true]);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await phone.emulateMedia({ colorScheme });
      expect([colorScheme, await findViolations(phone)]).toEqual([colorScheme, []]);
    }
    await menu.getByRole("button", { name: "Theme: system" }).tap();
    await menu.getByRole("button", { name: "Theme: light" }).waitFor();
    expect(await phone.evaluate(() => document.documentElement.dataset["theme"])).toBe("light");
    await menu.getByRole("button", { name: "Keys" }).tap();
    await phone.getByRole("dialog", { name: "Keys" }).getByRole("button", { name: "Close" }).tap();
    await more.tap();
    await menu.getByRole("link", { name: "Usage" }).tap();
    await phone.getByRole("heading", { name: "Usage" }).waitFor();
    await menu.waitFor({ state: "hidden" });
    await context.close();
  });

  it("removes a session that another process deleted from the roster and its own screen", async () => {
    const sessionId = newId("ses");
    const [opened] = EVENTS;
    const titled = { ...opened, title: "Deleted elsewhere" } as EventDraft;
    await scene.rookery.store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [titled] });
    await page.goto(scene.server.url);
    await page.getByText("Deleted elsewhere").waitFor();
    const other = await page.context().newPage();
    await other.goto(`${scene.server.url}/session/${sessionId}`);
    await other.getByRole("heading", { name: "Deleted elsewhere" }).waitFor();
    await scene.rookery.deleteSession(sessionId); // without a request to the server
    await page.getByText("Deleted elsewhere").waitFor({ state: "detached" });
    await other.getByText("There is no such session.").waitFor();
    await other.close();
  });

  it("forgets what was typed for a session that is deleted, and for a task that is removed", async () => {
    const { store } = scene.rookery;
    const sessionId = newId("ses");
    const [opened] = EVENTS;
    const titled = { ...opened, title: "With a draft" } as EventDraft;
    await store.append({ sessionId, id: newId("app"), expectedHead: 0, events: [titled] });
    const tab = await page.context().newPage();
    await tab.goto(`${scene.server.url}/session/${sessionId}`);
    await tab.getByRole("textbox", { name: "Message" }).fill("not sent");
    const listKept = () =>
      tab.evaluate((id) => [sessionStorage, localStorage].flatMap(Object.keys).filter((key) => key.endsWith(id)), sessionId); // prettier-ignore
    expect(await listKept()).toHaveLength(1);
    expect((await scene.call("DELETE", `/v1/sessions/${sessionId}`)).status).toBe(200);
    await tab.getByText("There is no such session.").waitFor();
    expect(await listKept()).toEqual([]);

    const spec = { prompt: "p", title: "Removed", repository: "/work", agent: "claude", provider: "anthropic" };
    const rest = { priority: 0, needs: [], retries: 0, stages: [STAGE], budget: {}, limits: {} };
    const append = (expectedHead: number, event: TaskEventDraft) =>
      store.appendTask({ taskId: sessionId, id: newId("app"), expectedHead, events: [event] });
    await append(0, { at: stamp.at, type: "task.created", spec: { ...spec, ...rest } });
    await tab.goto(`${scene.server.url}/task/${sessionId}`);
    await tab.getByRole("heading", { name: "Removed" }).waitFor();
    await tab.evaluate((id) => localStorage.setItem(`rookery-comments:${id}`, "{}"), sessionId);
    await append(1, { at: stamp.at, type: "task.removed" });
    await tab.getByText(`There is no task ${sessionId}`).waitFor();
    expect(await listKept()).toEqual([]);
    await tab.close();
  });

  it("draws tables of messages in the same way after a screen with tables of its own", async () => {
    const sessionId = newId("ses");
    const [opened] = EVENTS;
    const table = "| a | b |\n| - | - |\n| 1 | 2 |";
    const message = { ...stamp, type: "message.completed", messageId: "m1", text: table } as const;
    const events = [{ ...opened, title: "With a table" } as EventDraft, message];
    await scene.rookery.store.append({ sessionId, id: newId("app"), expectedHead: 0, events });
    const measure = () => page.locator(".markdown table").evaluate((node) => node.getBoundingClientRect().width);
    await page.goto(`${scene.server.url}/session/${sessionId}`);
    await page.locator(".markdown table").waitFor();
    const before = await measure();
    await page.goto(`${scene.server.url}/usage`);
    await page.getByRole("table").first().waitFor();
    await page.getByRole("link", { name: "Roster" }).click();
    await page.getByRole("link", { name: /With a table/ }).click();
    await page.locator(".markdown table").waitFor();
    expect(await measure()).toBe(before);
  });

  it("names the session of an event in the activity, and all keys in the help", async () => {
    await page.goto(`${scene.server.url}/activity`);
    const entry = page.getByRole("listitem").filter({ hasText: "failed: no luck" });
    await entry.getByRole("link", { name: "Fix the «U+202E»login" }).waitFor();
    expect(await entry.textContent()).toContain("claude failed: no luck");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Comment on the line").waitFor();
    await page.keyboard.press("Escape");
  });

  it("counts the tokens of a task once, however often its row changes", async () => {
    const { store } = scene.rookery;
    const [sessionId, taskId] = [newId("ses"), "counted"];
    const spec = { prompt: "count", title: "Count once", repository: "/work", agent: "claude", provider: "anthropic" };
    const rest = { priority: 0, needs: [], retries: 0, stages: [STAGE], budget: {}, limits: {} };
    const append = (expectedHead: number, ...events: EventDraft[]) =>
      store.append({ sessionId, id: newId("app"), expectedHead, events });
    await store.appendTask({
      taskId,
      id: newId("app"),
      expectedHead: 0,
      events: [{ at: stamp.at, type: "task.created", spec: { ...spec, ...rest } }],
    });
    const opened = { type: "session.opened", backend: "api", cwd: "/work", permissions: "ask", task: taskId } as const;
    await append(0, { ...stamp, ...opened });
    const started = { type: "stage.started", stage: 0, name: "work", attempt: 1, sessionId } as const;
    await store.appendTask({
      taskId,
      id: newId("app"),
      expectedHead: 1,
      events: [
        { at: stamp.at, type: "task.started", run: 1, owner: "test" },
        { at: stamp.at, ...started },
      ],
    });
    await page.goto(scene.server.url);
    const row = page.getByRole("link", { name: "Count once" });
    await row.waitFor();
    await append(1, { ...stamp, type: "usage.reported", inputTokens: 1_000, outputTokens: 0 });
    await row.getByText("1.0k tokens").waitFor();
    for (const [index, text] of ["first", "second"].entries()) {
      await append(2 + index, { ...stamp, type: "message.completed", messageId: text, text });
      await row.getByText(text).waitFor();
    }
    await row.getByText("1.0k tokens").waitFor();
  });
});
