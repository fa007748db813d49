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
const startedAt = Date.now();
const TURN = { turnId: "trn_1" };

describe.skipIf("missing" in found)("the inbox", () => {
  const owned = new DisposeStack();
  let scene: HttpScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = owned.use(await openHttp());
    browser = await startBrowser(owned.use(await temporaryFolder()).path);
    owned.defer(() => browser.close());
  });
  afterAll(() => owned[Symbol.asyncDispose]());

  async function openInbox(): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    await page.goto(scene.server.makeSignInLink().url);
    await page.getByRole("link", { name: /Inbox/ }).click();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    return page;
  }

  let asked = 0;
  async function ask(title: string): Promise<string> {
    const sessionId = newId("ses");
    const stamp = { at: new Date(startedAt + (asked += 1)).toISOString(), agent: "claude" };
    const events: EventDraft[] = [
      { ...stamp, type: "session.opened", backend: "api", cwd: "/work", permissions: "ask", title: "Fix it" },
      { ...stamp, ...TURN, type: "turn.started", input: [{ type: "text", text: "fix it" }] },
      {
        ...stamp,
        ...TURN,
        type: "permission.requested",
        requestId: "req_1",
        toolId: "tol_1",
        tool: "bash",
        title,
        kind: "execute",
        input: { command: title },
      },
    ];
    await scene.rookery.store.append({ sessionId, id: newId("app"), expectedHead: 0, events });
    return sessionId;
  }

  const answers = async (sessionId: string) =>
    (await scene.rookery.store.read({ sessionId })).events.filter(({ type }) => type === "permission.resolved");

  it("is answered by keys, and what is answered elsewhere disappears", async () => {
    const first = await ask("npm test");
    const [page, other] = [await openInbox(), await openInbox()];
    await page.getByText("npm test").first().waitFor();
    await other.getByText("npm test").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    const key = page.getByRole("button", { name: "Allow y" }).locator("kbd"); // axe ignores single letters
    expect(await key.evaluate((node) => getComputedStyle(node).backgroundColor)).toBe("rgba(0, 0, 0, 0)");
    const second = await ask("npm publish");
    await page.getByText("npm publish").first().waitFor();
    await page.keyboard.press("n"); // selects: nothing was selected, and `n` makes a new task on other screens
    expect(await page.evaluate(() => document.activeElement?.closest(".waiting")?.textContent)).toContain("npm test");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("y");
    await page.getByText("npm test").first().waitFor({ state: "detached" });
    await other.getByText("npm test").first().waitFor({ state: "detached" });
    expect(await answers(first)).toMatchObject([{ decision: "allow", scope: "once", by: "person" }]);
    await page.keyboard.press("j");
    await page.keyboard.press("e");
    await page.keyboard.type("not from here");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is waiting for an answer.").waitFor();
    expect(await answers(second)).toMatchObject([{ decision: "deny", message: "not from here", by: "person" }]);
  });

  it("moves the focus to the next request after an answer, and finally to the text that says the inbox is empty", async () => {
    const sessions = [await ask("npm ci"), await ask("npm test"), await ask("git push")];
    const page = await openInbox();
    await page.getByText("git push").first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.closest(".waiting, .empty")?.textContent);
    const isAnswered = async (index: number) => (await answers(sessions[index] ?? "")).length > 0;
    await page.keyboard.press("j");
    await page.evaluate(() => {
      const pressAgain = () =>
        document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
      addEventListener("focusin", pressAgain, { once: true });
    });
    await page.keyboard.press("y");
    await expect.poll(focused).toContain("npm test");
    expect([await isAnswered(0), await isAnswered(1)]).toEqual([true, false]); // a second key at once is ignored
    /** Keys that come sooner are ignored. */
    const readRequest = () => page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 260)));
    await readRequest();
    await page.evaluate(() => {
      const held = new KeyboardEvent("keydown", { key: "y", bubbles: true, cancelable: true, repeat: true });
      document.activeElement?.dispatchEvent(held);
    });
    await page.keyboard.press("j");
    await page.keyboard.press("n");
    await expect.poll(focused).toContain("npm test"); // the last one is gone, so it is the one before
    expect([await isAnswered(1), await isAnswered(2)]).toEqual([false, true]);
    await readRequest();
    await page.keyboard.press("y");
    await expect.poll(focused).toBe("Nothing is waiting for an answer.");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await answers(sessions[1] ?? "")).toMatchObject([{ decision: "allow" }]);
    expect(await answers(sessions[2] ?? "")).toMatchObject([{ decision: "deny" }]);
    expect(await findViolations(page)).toEqual([]);
  });

  it("notifies a person of a request if they turned notifications on, and opens it", async () => {
    const page = await (await browser.newContext()).newPage();
    await page.addInitScript(() => {
      const shown: { title: string; tag: string; isClosed: boolean; onclick?: () => void }[] = [];
      // Headless Chromium shows no notifications.
      class FakeNotification {
        static permission = "granted";
        static requestPermission = () => Promise.resolve("granted");
        readonly tag: string;
        isClosed = false;
        constructor(
          readonly title: string,
          { tag }: { tag: string },
        ) {
          this.tag = tag;
          shown.push(this);
        }
        close(): void {
          this.isClosed = true;
        }
      }
      Object.assign(globalThis, { Notification: FakeNotification, shown });
      Object.assign(navigator, {
        setAppBadge: (count: number) => Promise.resolve(Object.assign(globalThis, { count })),
      });
      document.hasFocus = () => false;
    });
    const readShown = () => page.evaluate(() => (globalThis as unknown as { shown: readonly object[] }).shown);
    await page.goto(scene.server.makeSignInLink().url);
    await page.getByRole("link", { name: /Inbox/ }).click();
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("button", { name: "Notifications on" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Notifications on" }).waitFor(); // remembered
    await page.getByText("Loading…").waitFor({ state: "hidden" }); // it notifies only of what comes later
    const id = await ask("git push");
    await expect.poll(readShown).toMatchObject([{ title: "Fix it needs you", tag: `${id} req_1` }]);
    expect(await page.title()).toMatch(/^\(\d+\) Inbox · Rookery$/);
    expect(await page.evaluate(() => (globalThis as unknown as { count: number }).count)).toBeGreaterThan(0);
    const other = await ask("npm publish");
    await expect.poll(async () => (await readShown()).length).toBe(2);
    await scene.rookery.answer(other, "req_1", { decision: "deny" });
    await expect.poll(readShown).toMatchObject([{ isClosed: false }, { isClosed: true }]);
    await page.evaluate(() => (globalThis as unknown as { shown: { onclick(): void }[] }).shown[0]?.onclick());
    await page.waitForURL(`**/session/${id}#seq-3`);
    await page.locator(".found").getByRole("button", { name: "Allow y" }).waitFor();
    await scene.rookery.answer(id, "req_1", { decision: "deny" });
  });
});
