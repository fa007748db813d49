/** Plays a person on the page, who finds everything by roles, labels and keys. */
import type { Locator, Page } from "playwright-core";

/** Tasks that wait for another process take longer than a click. */
const PATIENCE = { timeout: 30_000 };

/** The page ignores keys that answer a request sooner after it got the focus. */
const READ_MS = 300;

export interface NewTask {
  readonly id: string;
  readonly title: string;
  readonly pipeline?: string;
  /** Titles of tasks. */
  readonly needs?: readonly string[];
}

export class Person {
  readonly page: Page;
  constructor(page: Page) {
    this.page = page;
  }

  button(name: string | RegExp, within: Page | Locator = this.page): Locator {
    return within.getByRole("button", { name, exact: true });
  }

  dialog(name: string | RegExp): Locator {
    return this.page.getByRole("dialog", { name });
  }

  /** Fills in the dialog of a new task with the keyboard, and sends it with Control+Enter. */
  async startTask({ id, title, pipeline, needs = [] }: NewTask, repository?: string): Promise<void> {
    await this.page.keyboard.press("n");
    const dialog = this.dialog("New task");
    await dialog.getByLabel("What should the agent do?").fill(`${title}\n\nrecipe: ${id}`);
    if (repository !== undefined) await dialog.getByLabel("Repository").fill(repository);
    await dialog.getByText("More").click();
    await dialog.getByLabel("Task id").fill(id);
    if (pipeline !== undefined) await dialog.getByLabel("Pipeline").selectOption(pipeline);
    for (const need of needs) await dialog.getByRole("checkbox", { name: need }).check();
    await this.page.keyboard.press("Control+Enter");
    await this.page.getByRole("heading", { name: title, level: 1 }).waitFor();
  }

  /** Two keys in a row. */
  async goTo(keys: "r" | "i"): Promise<void> {
    await this.page.keyboard.press("g");
    await this.page.keyboard.press(keys);
    await this.page.getByRole("heading", { name: keys === "r" ? "Roster" : "Inbox", level: 1 }).waitFor();
  }

  /** Waits until a permission request of the inbox has the focus, and as long as it takes to read it. */
  async readFocusedRequest(): Promise<void> {
    await this.page.getByRole("group", { name: "Permission request" }).locator("button:focus").waitFor(PATIENCE);
    await this.page.waitForTimeout(READ_MS);
  }

  /** The row of a task in a group of the roster. */
  row(group: string, title: string): Locator {
    return this.page.getByRole("region", { name: group }).getByRole("link", { name: title });
  }

  /** Waits until the roster shows the task in a group with a status. */
  async seeRow(group: string, title: string, status: string): Promise<void> {
    await this.row(group, title).getByText(status, { exact: true }).waitFor(PATIENCE);
  }

  async openTask(title: string): Promise<void> {
    await this.goTo("r");
    await this.page.getByRole("link", { name: title }).click();
    await this.page.getByRole("heading", { name: title, level: 1 }).waitFor();
  }

  /** Waits until the header of the open task shows a status. */
  async seeStatus(status: string): Promise<void> {
    const title = this.page.getByRole("heading", { level: 1 }).locator("..");
    await title.getByText(status, { exact: true }).waitFor(PATIENCE);
  }

  /** Opens a tab of the task screen by its name. */
  async openTab(name: string): Promise<void> {
    await this.page.getByRole("navigation", { name: "Task" }).getByRole("link", { name, exact: true }).click();
  }

  /** Comments on the line of the diff that has the focus after some moves down. */
  async comment(downs: number, text: string): Promise<void> {
    const diff = this.page.getByRole("grid", { name: "Changes" });
    await diff.focus();
    await this.page.keyboard.press("Home");
    for (let moves = 0; moves < downs; moves += 1) await this.page.keyboard.press("j");
    await this.page.keyboard.press("c");
    await this.page.keyboard.type(text);
    await this.page.keyboard.press("Control+Enter");
    await diff.getByText(text).waitFor();
  }

  /** Opens the merge dialog of the open task, and waits for the prediction. */
  async predictMerge(prediction: string): Promise<Locator> {
    await this.button("Merge…").click();
    const dialog = this.dialog(/^Merge /);
    await dialog.getByText(prediction).waitFor(PATIENCE);
    return dialog;
  }

  /** `during` happens right after the click. */
  async merge(method: string, during: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const dialog = await this.predictMerge("without conflicts");
    await dialog.getByLabel(method, { exact: true }).check();
    await dialog.getByText("without conflicts").waitFor(PATIENCE);
    await this.button("Merge", dialog).click();
    await during();
    await dialog.getByText("Merged into main as").waitFor(PATIENCE);
    await this.button("Close", dialog).last().click();
    await this.seeStatus("merged");
  }

  async seeDisconnected(): Promise<void> {
    await this.page.getByText("Disconnected from the server.").waitFor(PATIENCE);
  }

  async seeConnected(): Promise<void> {
    await this.page.getByText("Disconnected from the server.").waitFor({ state: "detached", ...PATIENCE });
  }
}
