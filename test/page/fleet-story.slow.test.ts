import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { expectStoryResult, expectSwept } from "../fleet/checks.ts";
import { openFleet } from "../fleet/scene.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findBrowser, startBrowser } from "./browser.ts";
import { expectRepeatedRequests, expectRoster, expectTranscript, listRequests } from "./story/compare.ts";
import { PAGE_STORY } from "./story/expected.ts";
import { Person, type NewTask } from "./story/person.ts";

const found = await findBrowser();
const { TASKS } = (await import(new URL("../../examples/fleet/story.mjs", import.meta.url).href)) as {
  TASKS: readonly NewTask[];
};
const titleOf = (id: string): string => TASKS.find((task) => task.id === id)?.title ?? "";

describe.skipIf("missing" in found)(`the fleet on the page${"missing" in found ? `: ${found.missing}` : ""}`, () => {
  it("is driven by clicks and keys alone, while the server is killed twice", { timeout: 240_000 }, async () => {
    await using fleet = await openFleet();
    await using home = await temporaryFolder();
    await fleet.start();
    const browser = await startBrowser(home.path);
    await using _ = { [Symbol.asyncDispose]: () => browser.close() };
    const context = await browser.newContext({ viewport: { width: 1440, height: 1200 } });
    const { url, token } = fleet.address;
    const client = createClient({ url, token }); // only reads, to compare
    const problems: string[] = [];
    const openTab = async (address: string): Promise<Person> => {
      const page = await context.newPage();
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(address);
      await page.getByRole("heading", { name: "Roster", level: 1 }).waitFor();
      await markPage(page);
      return new Person(page);
    };
    const person = await openTab(fleet.signInLink());
    const watcher = await openTab(url); // keeps looking at one conversation

    for (const [index, { needs = [], ...task }] of TASKS.entries()) {
      await person.startTask({ ...task, needs: needs.map(titleOf) }, index === 0 ? fleet.repository : undefined);
    }
    await watcher.openTask(titleOf("languages"));
    const transcript = watcher.page.getByRole("group", { name: "Transcript" });
    await transcript.getByText("Wait until the words of de are checked").waitFor();
    const languages = (await client.GET("/v1/tasks/{id}", { params: { path: { id: "languages" } } })).data;
    const session = languages?.sessions[0]?.id ?? "";
    await person.goTo("r");
    await person.seeRow("Needs you", titleOf("name"), "waiting");
    await person.seeRow("Needs you", titleOf("audit"), "waiting");
    for (const id of ["everyone", "changelog", "licence", "experiment"])
      await person.seeRow("Done", titleOf(id), "done");
    await person.row("Failed", titleOf("deploy")).getByText("there is no host to deploy to").waitFor();
    await person.row("Queued", titleOf("release")).waitFor();
    await expectRoster(person.page, client);

    // The first kill: a question, a permission request and a running tool are open.
    const asked = await listRequests(client);
    await fleet.kill();
    await Promise.all([person.seeDisconnected(), watcher.seeDisconnected()]);
    await fleet.start();
    await expectSwept(fleet);
    await Promise.all([person.seeConnected(), watcher.seeConnected()]);
    await person.goTo("i");
    await expectRepeatedRequests(person.page, client, asked);
    await person.goTo("r");
    await expectRoster(person.page, client);
    await expectTranscript(watcher.page, client, session);

    await person.goTo("i");
    await person.page.getByLabel("A name").fill("Ada");
    await person.page.keyboard.press("Enter");
    await person.page.getByText("Who is to be greeted?").waitFor({ state: "detached" });
    await person.readFocusedRequest();
    await person.page.keyboard.press("y");
    await person.page.getByText("Nothing is waiting for an answer.").waitFor();

    await watcher.button("Stop").click();
    await watcher.seeStatus("stopped");
    await watcher.button("Resume…").click();
    await watcher.page.keyboard.type("The words are checked: go on.");
    await watcher.page.keyboard.press("Control+Enter");
    await watcher.seeStatus("done");
    await transcript.getByText("It knows three languages.").waitFor();

    await person.goTo("r");
    await person.seeRow("Done", titleOf("release"), "merged");
    await person.seeRow("Done", titleOf("audit"), "done");
    await person.openTask(titleOf("changelog"));
    await person.openTab("Changes");
    await person.page.getByRole("grid", { name: "Changes" }).getByText("# Changes").waitFor();
    await person.comment(2, "Call it a changelog.");
    await person.comment(4, "Say to whom.");
    await person.button("Send 2 comments").click();
    await person.page.getByText("Sent 2 comments: the task is resumed.").waitFor();
    await person.page.getByText("The agent has worked since.").waitFor();
    await person.seeStatus("done");
    await person.button("Reload").click();
    await person.page.getByRole("grid", { name: "Changes" }).getByText("- It says hello to everyone.").waitFor();
    await person.merge("Squash into one commit");

    // The second kill: the page has just asked for a merge.
    await person.openTask(titleOf("licence"));
    await person.merge("Rebase, without a merge commit", async () => {
      await fleet.kill();
      await watcher.seeDisconnected();
      await fleet.start();
    });
    await Promise.all([person.seeConnected(), watcher.seeConnected()]);
    await expectTranscript(watcher.page, client, session);
    await watcher.merge("Merge commit");

    await person.openTask(titleOf("everyone"));
    const conflict = await person.predictMerge("It would conflict with main in this file");
    await conflict.getByText("hello.mjs").waitFor();
    await person.button("Ask the agent to resolve it", conflict).click();
    await person.page.getByText("It greets everyone, and one by name.").waitFor();
    await person.seeStatus("done");
    await person.merge("Merge commit");

    await person.openTask(titleOf("audit"));
    const nothing = await person.predictMerge("Nothing to merge");
    expect(await person.button("Merge", nothing).isDisabled()).toBe(true);
    await person.page.keyboard.press("Escape");

    await person.openTask(titleOf("experiment"));
    await person.button("Remove…").click();
    await person
      .dialog(/^Remove /)
      .getByText("1 commit of rookery/experiment that is not merged")
      .waitFor();
    await person.button("Remove and lose this work").click();
    await person.page.getByRole("heading", { name: "Roster", level: 1 }).waitFor();

    await person.button("Clean up…").click();
    const cleaning = person.dialog("Clean up worktrees");
    await cleaning.getByText("9 worktrees can be removed").waitFor();
    const removable = cleaning.getByRole("region", { name: "Can be removed" }).getByRole("listitem");
    expect(await removable.count()).toBe(9);
    await person.button("Remove 9 worktrees").click();
    await cleaning.getByText("9 worktrees removed").waitFor();
    await person.button("Close", cleaning).last().click();
    await expectRoster(person.page, client);

    expect(await Promise.all([isMarked(person.page), isMarked(watcher.page)])).toEqual([true, true]);
    expect(problems).toEqual([]);
    await fleet.stop();
    await expectStoryResult(fleet, PAGE_STORY);
  });
});

/** A page that is loaded again loses the mark. */
async function markPage(page: Page): Promise<void> {
  await page.evaluate(() => void Object.assign(globalThis, { isSamePage: true }));
}

function isMarked(page: Page): Promise<boolean> {
  return page.evaluate(() => "isSamePage" in globalThis);
}
