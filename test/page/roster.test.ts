// own process: starts a browser
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "./browser.ts";
import { openPageScene, type PageScene } from "./scene.ts";

const found = await findBrowser();

const LONG_TITLE = "A long one, whose title is wider than the screen of a phone, and does not end there";
const isSlowRun = process.env["ROOKERY_SLOW"] === "1";

describe.skipIf("missing" in found)("the roster", () => {
  let scene: PageScene;
  beforeAll(async () => {
    const careful = '[agents.careful]\nbackend = "command"\ncommand = ["true"]\npermissions = "read"\n';
    scene = await openPageScene({ config: careful });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const group = (page: Page, title: string) => page.getByRole("region", { name: title });

  it("says how to start before there is anything, on the board and in the activity too", async () => {
    const page = await scene.open("/board", { viewport: { width: 390, height: 844 } });
    await page.getByRole("button", { name: "Run the demo task" }).waitFor();
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByText("Nothing has happened yet.").waitFor();
    await page.getByRole("searchbox").fill("absent");
    await page.getByText("No entry matches.").waitFor();
    await page.context().close();
  });

  it("starts a task with the keyboard, and follows it until it is done", async () => {
    const page = await scene.open();
    await page.getByText("No tasks or sessions yet.").waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("What should the agent do?").fill("echo two >> a.txt; echo finished");
    await page.keyboard.press("Control+Enter");
    await page.waitForURL(/\/task\//);
    await page.goto(`${scene.url}/`);
    await group(page, "Done").getByText("finished", { exact: true }).waitFor();
    const { data } = await scene.client.GET("/v1/tasks");
    expect(data?.tasks).toMatchObject([{ prompt: "echo two >> a.txt; echo finished", status: "done" }]);
  });

  it("names the defaults of a new task", async () => {
    const page = await scene.open();
    await page.getByRole("button", { name: "New task" }).click();
    const dialog = page.getByRole("dialog", { name: "New task" });
    const firstOption = (label: string) =>
      dialog
        .getByLabel(new RegExp(`^${label}`))
        .locator("option")
        .first();
    await expect.poll(() => firstOption("Agent").textContent()).toBe("default: shell");
    expect(await firstOption("Permissions").textContent()).toBe("default: ask me");
    await dialog.getByLabel(/^Agent/).selectOption("careful");
    expect(await firstOption("Permissions").textContent()).toBe("default: read only");
    await dialog.getByLabel("Repository").fill("");
    await dialog.getByLabel("Repository").blur();
    const placeholder = () => dialog.getByLabel("Repository").getAttribute("placeholder");
    await expect.poll(placeholder).toBe(`default: ${scene.repository.path}`);
    await page.keyboard.press("Escape");
  });

  it("says why a task cannot start, and keeps what was typed", async () => {
    const page = await scene.open();
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByLabel("What should the agent do?").fill("echo x");
    await page.getByLabel("Repository").fill("/nowhere");
    await page.getByRole("button", { name: "Start task" }).click();
    await page.getByRole("alert").getByText("/nowhere").waitFor();
    expect(await page.getByLabel("What should the agent do?").inputValue()).toBe("echo x");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("keeps a dialog that is opened right after another one was closed", async () => {
    const page = await scene.open();
    await page.keyboard.press("n");
    await page.getByLabel("What should the agent do?").fill("the first");
    await page.getByRole("button", { name: "Cancel" }).evaluate(async (cancel: HTMLElement) => {
      cancel.click();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
      await new Promise((resolve) => setTimeout(resolve, 100)); // the late event of the first dialog
    });
    expect(await page.getByLabel("What should the agent do?").inputValue({ timeout: 1_000 })).toBe("");
    await page.keyboard.press("Escape");
  });

  it("removes a session that is deleted elsewhere from open pages", async () => {
    const { data } = await scene.client.POST("/v1/sessions", {
      body: { agent: "shell", cwd: scene.repository.path, title: "Short-lived" },
    });
    const page = await scene.open();
    const sessionPage = await scene.open(`/session/${data?.id}`);
    await page.getByText("Short-lived").waitFor();
    await sessionPage.getByRole("textbox", { name: "Message" }).waitFor();
    await scene.client.DELETE("/v1/sessions/{id}", { params: { path: { id: data?.id ?? "" } } });
    await page.getByText("Short-lived").waitFor({ state: "detached" });
    await sessionPage.getByText("There is no such session.").waitFor();
    await sessionPage.getByRole("textbox", { name: "Message" }).waitFor({ state: "detached" });
  });

  it("says that it is disconnected when the server is killed, and recovers by itself", async () => {
    const page = await scene.open();
    await group(page, "Done").waitFor();
    await scene.kill();
    await page.getByText("Disconnected from the server.").waitFor();
    await scene.restart();
    await page.getByText("Disconnected from the server.").waitFor({ state: "detached", timeout: 30_000 });
    await scene.client.POST("/v1/tasks", { body: { prompt: "echo after the restart", id: "later" } });
    await group(page, "Done").getByText("after the restart", { exact: true }).waitFor();
    expect(await page.locator("a.row").count()).toBe(2);
  });

  const screens = [
    ["does not have the code of", false],
    ["has the code of", true],
  ] as const;
  it.each(screens.slice(0, isSlowRun ? 2 : 1))(
    "shows a screen that was opened while the server was away, if it %s the screen",
    async (_, wasOpened) => {
      const said = `kept ${wasOpened ? "code" : "nothing"}`;
      await scene.client.POST("/v1/tasks", { body: { prompt: `echo ${said}` } });
      const page = await scene.open();
      const row = group(page, "Done").getByRole("link", { name: new RegExp(said) });
      const stages = page.getByRole("list", { name: "Stages" });
      if (wasOpened) {
        await row.click();
        await stages.getByText("passed").last().waitFor();
        await page.getByRole("link", { name: "Inbox" }).click();
        await page.getByText("Nothing is waiting for an answer.").waitFor();
        await page.getByRole("link", { name: "Roster" }).click();
      }
      await row.waitFor();
      await scene.kill();
      await page.getByText("Disconnected from the server.").waitFor();
      await row.click();
      if (wasOpened) await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
      await scene.restart();
      await stages.getByText("passed").last().waitFor({ timeout: 30_000 });
      await page.getByRole("group", { name: "Transcript" }).getByText(said, { exact: true }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      if (!wasOpened) return;
      await scene.kill();
      await page.getByText("Disconnected from the server.").waitFor();
      await page.getByRole("link", { name: "Inbox" }).click();
      await page.getByRole("alert").waitFor();
      await scene.restart();
      await page.getByText("Nothing is waiting for an answer.").waitFor({ timeout: 30_000 });
    },
  );

  it("starts a task with an id, a base and the tasks that it waits for", async () => {
    const page = await scene.open();
    await scene.client.POST("/v1/tasks", { body: { prompt: "sleep 60", title: LONG_TITLE, id: "long" } });
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog", { name: "New task" });
    await dialog.getByLabel("What should the agent do?").fill("echo at last");
    await dialog.getByText("More").click();
    await page.setViewportSize({ width: 390, height: 844 });
    await dialog.getByText(LONG_TITLE).waitFor();
    expect(await dialog.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0); // all of it is in reach
    await dialog.getByLabel("Task id").fill("last");
    await dialog.getByLabel("Base").fill("main");
    await dialog.getByRole("group", { name: "Start after" }).getByLabel("A long one").check();
    await dialog.getByRole("button", { name: "Start task" }).click();
    await page.waitForURL(/\/task\/last$/);
    await page.getByText("Waits in the queue").waitFor();
    const { data } = await scene.client.GET("/v1/events", { params: { query: { after: 0 } } });
    const specs = data?.events.flatMap(({ event }) => ("spec" in event && event.taskId === "last" ? [event.spec] : []));
    expect(specs).toMatchObject([{ base: "main", needs: ["long"] }]);
    expect(specs?.[0]).not.toHaveProperty("permissions"); // those of the agent
    await scene.client.POST("/v1/tasks/{id}/stop", { params: { path: { id: "long" } }, body: {} });
  });
});
