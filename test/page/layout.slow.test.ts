// own process: starts a browser
/** Tests the layout: the board at every width, and headers that leave the room of a phone to the content. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId, type EventDraft } from "../../src/domain/index.ts";
import { openHttp, type HttpScene } from "../../src/server/http/test-scene.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findViolations } from "./accessibility.ts";
import { findBrowser, startBrowser } from "./browser.ts";

const found = await findBrowser();
const at = new Date().toISOString();
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const TITLE = "Keep jobs that are pushed while the queue drains, and an-identifier-without-any-place-to-break-it";
const STAGES = ["write", "review", "test-on-linux", "test-on-macos", "benchmark", "document"];

describe.skipIf("missing" in found)("the layout", () => {
  const owned = new DisposeStack();
  let scene: HttpScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = owned.use(await openHttp([]));
    await writeSession(scene);
    await writeTask(scene);
    browser = await startBrowser(owned.use(await temporaryFolder()).path);
    owned.defer(() => browser.close());
  });
  afterAll(() => owned[Symbol.asyncDispose]());

  async function openPage(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext({ reducedMotion: "reduce", ...options })).newPage();
    await page.goto(scene.server.makeSignInLink().url);
    await page.getByRole("heading", { name: "Roster" }).waitFor();
    await page.goto(`${scene.server.url}${path}`);
    return page;
  }

  it("of the board shows whole columns and cards whose text ends cleanly, at every width", async () => {
    const page = await openPage("/board");
    await page.locator(".column .row").nth(1).waitFor();
    for (const width of [320, 390, 600, 768, 1024, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      expect([width, await page.locator(".board").evaluate(findCutColumns)]).toEqual([width, []]);
      expect([width, await page.locator(".board").evaluate(findCutTexts)]).toEqual([width, []]);
      expect([width, await page.locator(".board").evaluate(findLeadingDots)]).toEqual([width, []]);
    }
    await page.context().close();
  });

  it("of the board reaches every column with one tap on a phone", async () => {
    const page = await openPage("/board", PHONE);
    const columns = page.getByRole("navigation", { name: "Columns" });
    for (const title of ["Failed", "Done"]) {
      const button = columns.getByRole("button", { name: title });
      await button.tap();
      await page.waitForFunction((name) => {
        const column = [...document.querySelectorAll(".column")].find((each) => each.textContent.startsWith(name));
        const { left = -1, right = Infinity } = column?.getBoundingClientRect() ?? {};
        return left >= 0 && right <= innerWidth;
      }, title);
      expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    }
    expect(await findViolations(page)).toEqual([]);
    await page.context().close();
  });

  it("of the roster has one line above the rows on a phone, and a menu for rare actions", async () => {
    const page = await openPage("/", PHONE);
    await page.locator(".row").first().waitFor();
    const more = page.getByRole("button", { name: "More actions" });
    await more.waitFor();
    expect((await page.locator(".roster-head").boundingBox())!.height).toBeLessThanOrEqual(48);
    await more.tap();
    const item = page.getByRole("button", { name: "Clean up…" });
    expect((await item.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    expect(await findViolations(page)).toEqual([]);
    await item.tap();
    await page.getByRole("dialog", { name: "Clean up worktrees" }).waitFor();
    await item.waitFor({ state: "hidden" });
    await page.context().close();
  });

  it.each(["/activity", "/usage", "/agents", "/inbox"])(
    "of %s has one line above the content on a phone",
    async (path) => {
      const page = await openPage(path, PHONE);
      await page.locator("main h1").waitFor();
      expect((await page.locator(".roster-head").boundingBox())!.height).toBeLessThanOrEqual(48);
      await page.context().close();
    },
  );

  it("of a task with a long title and many stages leaves most of a phone screen to its content, and has a menu", async () => {
    const page = await openPage("/task/wide", PHONE);
    const tabs = (await page.getByRole("navigation", { name: "Task" }).boundingBox())!;
    expect(tabs.y + tabs.height).toBeLessThan(0.4 * 844);
    const more = page.getByRole("button", { name: "More actions" });
    await more.tap();
    for (const name of ["Merge…", "Remove…", "Details"]) {
      const { height } = (await page.getByRole("button", { name }).boundingBox())!;
      expect([name, height >= 44]).toEqual([name, true]);
    }
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Details" }).tap();
    await page.getByText("Repository").waitFor();
    await more.tap();
    await page.getByRole("button", { name: "Remove…" }).tap();
    await page.getByRole("dialog", { name: /^Remove Keep jobs/ }).waitFor();
    await page.context().close();
  });

  it.each([390, 700, 1440])("of a pipeline has an arrow before each stage except the first, %i wide", async (width) => {
    const page = await openPage("/task/wide", { viewport: { width, height: 844 } });
    const steps = page.getByRole("list", { name: "Stages" }).getByRole("listitem");
    await steps.nth(5).waitFor();
    const drawn = await steps.evaluateAll((items) =>
      items.map((item) => {
        const [before, after] = ["::before", "::after"].map((name) => getComputedStyle(item, name).content);
        const list = item.parentElement!.getBoundingClientRect();
        const { left, right } = item.getBoundingClientRect();
        return [before, after, left >= list.left && right <= list.right];
      }),
    );
    expect(drawn).toEqual(drawn.map((_, index) => [index === 0 ? "none" : '"→"', "none", true]));
    await page.context().close();
  });
});

/** Columns that the edge of the board cuts. */
function findCutColumns(board: Element): string[] {
  const { left, right } = board.getBoundingClientRect();
  return [...board.querySelectorAll(".column")].flatMap((column) => {
    const box = column.getBoundingClientRect();
    const isWhole = box.left >= left - 1 && box.right <= right + 1;
    const isOutside = box.left >= right - 1 || box.right <= left + 1;
    return isWhole || isOutside ? [] : [column.querySelector("h2")?.textContent ?? ""];
  });
}

/** Texts that are wider than their card and end without an ellipsis, or whose lines are cut at the bottom. */
function findCutTexts(board: Element): string[] {
  return [...board.querySelectorAll(".column .row, .column .row > *, .column li")].flatMap((node) => {
    const style = getComputedStyle(node);
    const isClamped = style.webkitLineClamp !== "none" || style.textOverflow === "ellipsis";
    const isCut = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
    return style.display !== "inline" && isCut && !isClamped ? [`${node.className}: ${node.textContent}`] : [];
  });
}

/** Returns the amounts in which a line starts with the dot that separates two of them. */
function findLeadingDots(board: Element): string[] {
  const topOf = (node: Node, index: number): number => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + 1);
    return range.getBoundingClientRect().top;
  };
  return [...board.querySelectorAll(".column .amounts, .column .facts")].flatMap(({ firstChild: node }) => {
    const text = node?.nodeType === Node.TEXT_NODE ? (node.textContent ?? "") : "";
    const dots = [...text.matchAll(/·/g)].map(({ index }) => index);
    return dots.some((index) => topOf(node!, index) !== topOf(node!, index - 2)) ? [text] : [];
  });
}

async function writeSession({ rookery }: HttpScene): Promise<void> {
  const stamp = { at, agent: "claude", turnId: "trn_1" };
  const events: EventDraft[] = [
    { at, agent: "claude", type: "session.opened", backend: "api", cwd: "/work", permissions: "ask", title: TITLE },
    { ...stamp, type: "turn.started", input: [{ type: "text", text: "fix it" }] },
    { ...stamp, type: "message.completed", messageId: "m1", text: `${TITLE} ${TITLE}` },
    { ...stamp, type: "usage.reported", inputTokens: 312_000, outputTokens: 9_700, costUsd: 1.67, costBy: "computed" },
    { ...stamp, type: "turn.ended", outcome: { status: "done" } },
  ];
  await rookery.store.append({ sessionId: newId("ses"), id: newId("app"), expectedHead: 0, events });
}

/** A task that failed, with a worktree. */
async function writeTask({ rookery }: HttpScene): Promise<void> {
  const stages = STAGES.map(
    (name) => ({ kind: "command", name, command: `npm run ${name}`, tries: 1, timeout: 60 }) as const,
  );
  const spec = { prompt: "fix it", title: TITLE, repository: "/work", agent: "claude", provider: "anthropic" };
  const rest = { priority: 0, needs: [], retries: 0, stages, budget: {}, limits: {} };
  const [branch, base] = ["rookery/a-long-name-of-a-branch", "main"];
  const created = { at, type: "task.created", spec: { ...spec, ...rest } } as const;
  await rookery.store.appendTask({ taskId: "wide", id: newId("app"), expectedHead: 0, events: [created] });
  await rookery.store.appendTask({
    taskId: "wide",
    id: newId("app"),
    expectedHead: 1,
    events: [
      { at, type: "task.started", run: 1, owner: "test" },
      { at, type: "worktree.made", path: "/trees/wide", branch, base, baseCommit: "0".repeat(40), anew: true },
      { at, type: "worktree.ready", setUp: false },
      { at, type: "stage.started", stage: 0, name: "write", attempt: 1 },
      { at, type: "stage.ended", stage: 0, name: "write", passed: false },
      { at, type: "task.ended", outcome: "failed", message: "the stage write failed" },
    ],
  });
}
