// own process: starts a browser
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser } from "./browser.ts";
import { findViolations } from "./accessibility.ts";
import { openTaskScene, type TaskScene } from "./task-scene.ts";

const found = await findBrowser();
const TOML = `[pipelines.checked]
stages = [{ agent = "robin" }, { name = "check", run = "echo all is well" }]
[pipelines.fails]
stages = [{ agent = "robin" }, { name = "check", run = "exit 1" }]
`;
const MAIN = "one\ntwo\nthree\n";

const isSlowRun = process.env["ROOKERY_SLOW"] === "1";

describe.skipIf("missing" in found)(`the screen of a task${"missing" in found ? `: ${found.missing}` : ""}`, () => {
  let scene: TaskScene;
  beforeAll(async () => {
    scene = await openTaskScene({ toml: TOML, files: { "src/main.txt": MAIN } });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  async function startTask(id: string, command: string, pipeline?: string): Promise<void> {
    await scene.tasks.start({ id, title: `Task ${id}`, prompt: `run: ${command}`, agent: "robin", pipeline });
    await scene.until(id, "done");
  }

  it("sends comments on lines as one prompt, written with the keyboard and kept over a reload", async () => {
    await startTask("review", "sed -i s/two/2/ src/main.txt", "checked");
    const { page, problems } = await scene.openPage("/task/review/changes");
    await page.getByRole("list", { name: "Stages" }).getByText("check").waitFor();
    const diff = page.getByRole("grid", { name: "Changes" });
    await diff.getByText("src/main.txt").waitFor();
    await diff.focus();
    for (let moves = 0; moves < 4; moves += 1) await page.keyboard.press("j"); // file, hunk, one, -two, +2
    await page.keyboard.press("c");
    await page.keyboard.type("Not as a digit.\nrun: sed -i s/2/TWO/ src/main.txt");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("button", { name: "Send 1 comment" }).waitFor();
    await page.reload();
    await diff.getByText("Not as a digit.").waitFor();
    await page.getByRole("button", { name: "Send 1 comment" }).press("Enter");
    await page.getByText("Sent 1 comment: the task is resumed.").waitFor();
    await page.getByText("The agent has worked since.").waitFor();
    await page.getByRole("button", { name: "Reload" }).click();
    await diff.getByText("TWO").waitFor();
    await page.getByLabel("Which changes").selectOption("Session of robin");
    await page.getByText("The log has no changes of files by tools here.").waitFor();
    const [queued] = await scene.eventsOf("review", "task.queued");
    expect(queued).toMatchObject({
      prompt: expect.stringContaining("src/main.txt:2\n> 2\nNot as a digit.\n") as string,
    });
    expect(problems).toEqual([]);
  });

  it("predicts a conflict, asks the agent to resolve it, and merges with a gate", async () => {
    await startTask("conflict", "sed -i s/three/3/ src/main.txt");
    await scene.repository.write("src/main.txt", "one\ntwo\ntres\n");
    await scene.repository.git("commit", "--quiet", "--all", "--message=Translate");
    const { page, problems } = await scene.openPage("/task/conflict");
    await page.getByRole("button", { name: "Merge…" }).click();
    const dialog = page.getByRole("dialog", { name: "Merge Task conflict" });
    await dialog.getByText("It would conflict with main in this file").waitFor();
    await dialog.getByText("src/main.txt").waitFor();
    expect(await dialog.getByRole("button", { name: "Merge", exact: true }).isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Ask the agent to resolve it" }).click();
    await dialog.waitFor({ state: "hidden" });
    await scene.until("conflict", "done");
    const [queued] = await scene.eventsOf("conflict", "task.queued");
    expect(queued).toMatchObject({ prompt: expect.stringContaining("- src/main.txt") as string });
    // the agent of this test only runs what it is told
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.keyboard.type("run: git merge --quiet -X ours main");
    await page.keyboard.press("Control+Enter");
    await expect.poll(async () => (await scene.tasks.show("conflict")).runs).toBe(3);
    await scene.until("conflict", "done");
    await page.getByRole("button", { name: "Merge…" }).click();
    await dialog.getByText("would merge into main without conflicts").waitFor();
    await dialog.getByLabel("Squash into one commit").check();
    await dialog.getByLabel("Gate").selectOption("A command…");
    await dialog.getByLabel("Command that must pass").fill("cat src/main.txt; exit 3");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await dialog.getByText("the gate did not pass").waitFor();
    await dialog.getByRole("region", { name: "Output of gate" }).getByText("one two 3").waitFor();
    await dialog.getByLabel("Command that must pass").fill("true");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await dialog.getByText("Merged into main as").waitFor();
    expect(await scene.repository.git("show", "main:src/main.txt")).toBe("one\ntwo\n3");
    expect(problems).toEqual([]);
  });

  it("stops a task, and removes it after saying what would be lost", async () => {
    const prompt = "run: echo unsaved > notes.txt; git add .; git commit -qm 'Take notes'; sleep 60";
    await scene.tasks.start({ id: "lost", title: "Task lost", prompt, agent: "robin" });
    await scene.until("lost", "running");
    const { page, problems } = await scene.openPage("/task/lost");
    await expect.poll(() => scene.repository.git("log", "--format=%s", "rookery/lost")).toContain("Take notes");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Remove…" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove Task lost" });
    await dialog.getByText("Take notes").waitFor();
    await dialog.getByRole("button", { name: "Remove and lose this work" }).click();
    await page.getByRole("heading", { name: "Roster" }).waitFor();
    expect(await scene.tasks.show("lost")).toMatchObject({ removed: true });
    await page.goto(`${scene.server.url}/task/lost`);
    await page.getByText("There is no task lost").waitFor();
    expect(problems).toEqual([]);
  });

  it.each(isSlowRun ? (["light", "dark"] as const) : (["light"] as const))(
    "has no accessibility violations and renders hostile names and output harmlessly, %s",
    async (colorScheme) => {
      const name = "$(printf 'a\\342\\200\\256b<img src=x onerror=alert(1)>.txt')";
      const command = `printf '\\033[31m<b>red</b>\\033[0m\\n'; echo '<script>alert(1)</script>' > "${name}"`;
      await startTask(`hostile-${colorScheme}`, command, "checked");
      const { page, problems } = await scene.openPage(`/task/hostile-${colorScheme}`, { colorScheme });
      for (const [tab, text] of [
        ["Conversation", "<b>red</b>"],
        ["Changes", "+<script>alert(1)</script>"],
        ["Checks", "all is well"],
        ["Events", "run 1"],
      ] as const) {
        await page.getByRole("link", { name: tab, exact: true }).click();
        if (tab === "Checks") await page.locator(".check-run summary").first().press("Enter");
        await page.locator("main").getByText(text).last().waitFor();
        expect(await findViolations(page), tab).toEqual([]);
      }
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(problems).toEqual([]);
    },
  );

  it("shows the whole message box above the bar of a small phone, and offers to resume a failed task first", async () => {
    await startTask("small", "true");
    await scene.tasks.start({
      id: "broken",
      title: "Task broken",
      prompt: "run: true",
      agent: "robin",
      pipeline: "fails",
    });
    await scene.until("broken", "failed");
    const { page } = await scene.openPage("/task/small", { viewport: { width: 390, height: 520 } });
    const send = page.getByRole("button", { name: "Send" });
    await send.waitFor();
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const bottomOf = async (of: typeof send) => of.evaluate((node) => node.getBoundingClientRect().bottom);
    const barTop = await page
      .getByRole("navigation", { name: "Screens" })
      .evaluate((node) => node.getBoundingClientRect().top);
    expect(await bottomOf(send)).toBeLessThan(barTop);
    const primary = page.locator(".task-head button.primary");
    expect(await primary.textContent()).toBe("Merge…");
    await page.goto(`${scene.server.url}/task/broken`);
    await page.getByText("failed", { exact: true }).first().waitFor();
    expect(await primary.textContent()).toBe("Resume…");
  });

  it("has rows for files, events and stages that a thumb can hit", async () => {
    await startTask("thumb", "mkdir -p docs; echo 1 > docs/a.txt; echo 2 > docs/b.txt", "checked");
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await scene.openPage("/task/thumb/changes", phone);
    const files = page.getByRole("navigation", { name: "Changed files" }).getByRole("button");
    await files.nth(1).waitFor();
    const heights = async (of: typeof files) =>
      of.evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect().height >= 44));
    expect(await heights(files)).toEqual([true, true]);
    const [first, second] = await files.evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect()));
    expect(second!.top).toBeGreaterThanOrEqual(first!.bottom); // no row covers another
    const [select, reload] = [page.getByLabel("Which changes"), page.getByRole("button", { name: "Reload" })];
    expect((await select.boundingBox())!.y).toBe((await reload.boundingBox())!.y);
    await page.getByRole("link", { name: "Events" }).tap();
    const events = page.locator("#seq-1").locator("button, a");
    await events.nth(1).waitFor();
    expect(await heights(events)).toEqual([true, true]);
    await page.getByRole("link", { name: "Checks" }).tap();
    const checks = page.locator(".check-run summary");
    await checks.first().waitFor();
    expect(await heights(checks)).toEqual([true]);
  });

  it("reads the events of the task without those of its sessions", async () => {
    await startTask("own-log", "true");
    const { page } = await scene.openPage("/task/own-log/events");
    await page.locator("#seq-2").waitFor(); // a reload loses the responses that are still read
    const responses: Promise<string>[] = [];
    page.on("response", (response) => {
      if (new URL(response.url()).pathname.startsWith("/v1/tasks/own-log/")) responses.push(response.text());
    });
    await page.reload();
    await page.locator("#seq-2").waitFor();
    const logs = (await Promise.all(responses)).filter((text) => text.includes('"task.created"'));
    expect(logs.join()).not.toContain('"session.opened"');
    expect(logs).toHaveLength(1);
  });

  it.skipIf(!isSlowRun)(
    "lists the pipelines of the repository, and removes worktrees that nobody needs, narrow and wide",
    async () => {
      await startTask("nothing", "true");
      await startTask("something", "echo x > x.txt");
      const { page, problems } = await scene.openPage("/", { viewport: { width: 390, height: 800 } });
      await page.getByRole("button", { name: "New task" }).click();
      const dispatch = page.getByRole("dialog", { name: "New task" });
      await dispatch.getByLabel("Pipeline").selectOption("checked");
      expect(await dispatch.getByRole("combobox", { name: "Agent", exact: true }).isDisabled()).toBe(true);
      await dispatch.getByText("More").click();
      await dispatch.getByRole("checkbox", { name: "Task nothing" }).check();
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await findViolations(page)).toEqual([]);
        expect(await dispatch.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
      }
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Clean up…" }).click();
      const dialog = page.getByRole("dialog", { name: "Clean up worktrees" });
      await dialog.getByRole("region", { name: "Can be removed" }).getByText("nothing").waitFor();
      await dialog.getByRole("region", { name: "Kept" }).getByText("something").waitFor();
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await findViolations(page)).toEqual([]);
        expect(await dialog.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0);
      }
      await dialog.getByRole("button", { name: /^Remove \d+ worktree/ }).click();
      await dialog.getByRole("region", { name: "Removed", exact: true }).getByText("nothing").waitFor();
      const { worktree } = await scene.tasks.show("nothing");
      expect(worktree?.removed).toBe(true);
      expect((await scene.tasks.show("something")).worktree?.removed).toBe(false);
      expect(problems).toEqual([]);
    },
  );

  const sizes = [
    [390, 844],
    [1440, 900],
  ] as const;
  it.each(sizes.slice(0, isSlowRun ? 2 : 1))(
    "shows the message box without scrolling, %i × %i",
    async (width, height) => {
      await startTask(`in-view-${width}`, "seq 100");
      const { page } = await scene.openPage(`/task/in-view-${width}`, { viewport: { width, height } });
      const box = (await page.getByRole("button", { name: "Send", exact: true }).boundingBox())!;
      const navigation = (await page.getByRole("navigation", { name: "Screens" }).boundingBox())!;
      expect(box.y + box.height).toBeLessThan(width > 760 ? height : navigation.y);
      expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
    },
  );

  it("links to an event", async () => {
    await startTask("linked", "true");
    const { page } = await scene.openPage("/task/linked/events#seq-2");
    await page.locator("#seq-2.target").getByText('"type": "task.started"').waitFor();
    await page.getByLabel("Type").selectOption("task.ended");
    await page.getByText("1 of ").waitFor();
    await page.getByRole("link", { name: /Link to event/ }).click();
    expect(new URL(page.url()).hash).toMatch(/^#seq-\d+$/);
  });
});
